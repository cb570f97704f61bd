"""Score laws with known truth, and coverage runs of every interval against them."""
