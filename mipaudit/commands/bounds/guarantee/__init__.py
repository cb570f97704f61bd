"""A privacy guarantee as it is stated, and what it means for members and holdout."""
