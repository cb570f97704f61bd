"""What several commands may be asked: bases of their options."""
