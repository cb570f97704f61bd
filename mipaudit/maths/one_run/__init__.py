"""How surprising guesses about the canaries of one run are."""
