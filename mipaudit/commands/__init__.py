"""A folder for each command: what it may be asked, what it does, what it says."""
