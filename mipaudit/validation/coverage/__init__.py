"""A coverage run: cells, files, limits against truths, the outcome."""
