"""Values in the form in which they are typed."""
