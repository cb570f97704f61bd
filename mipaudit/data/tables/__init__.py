"""Tables that are wanted whole: vectors, points, what a model said."""
