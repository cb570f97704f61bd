"""One function per command: read, summarize, estimate, judge."""
