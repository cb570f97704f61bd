"""A report in words and files: sentences, layouts, and what renders them."""
