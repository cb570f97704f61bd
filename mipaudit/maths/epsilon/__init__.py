"""The largest epsilon that two rates refute."""
