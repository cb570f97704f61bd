"""The named adversaries of the literature: what each learns, says and achieves."""
