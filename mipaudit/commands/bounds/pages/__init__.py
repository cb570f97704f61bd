"""What ``bounds`` shows: words, the picture, the curves."""
