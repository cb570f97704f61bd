"""One run with canaries that coins included."""
