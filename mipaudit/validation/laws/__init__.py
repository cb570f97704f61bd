"""Score laws with known truth."""
