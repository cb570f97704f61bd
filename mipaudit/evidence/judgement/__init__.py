"""Policies judged on evidence."""
