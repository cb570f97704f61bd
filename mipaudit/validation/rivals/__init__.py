"""What others do, on the same files."""
