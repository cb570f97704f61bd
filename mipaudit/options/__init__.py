"""What may be asked: the options that commands share, and their ranges."""
