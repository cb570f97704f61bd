"""Exact tests of whether groups differ more than chance would have it."""
