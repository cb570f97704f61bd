"""Reports as JSON: their kinds, their schema, and back."""
