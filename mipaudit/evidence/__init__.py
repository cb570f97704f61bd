"""What counts show: limits at any error, shared by the commands."""
