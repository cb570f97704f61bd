"""A release that gets its noise, and the file that it lies in."""
