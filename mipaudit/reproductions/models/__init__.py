"""The models and attackers that several figures share."""
