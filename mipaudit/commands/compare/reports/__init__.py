"""Old reports against new ones."""
