"""The command line: words, a policy file and variables become checked options."""
