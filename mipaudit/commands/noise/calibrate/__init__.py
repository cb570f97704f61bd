"""The least noise that keeps a promise, from random splits."""
