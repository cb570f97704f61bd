"""What ``epsilon`` shows: the page, and epsilon at many deltas."""
