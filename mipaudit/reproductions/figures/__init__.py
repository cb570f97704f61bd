"""The figures of the papers, one module each."""
