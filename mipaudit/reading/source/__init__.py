"""An opened input: its parts, and its rows in partitions."""
