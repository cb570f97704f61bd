"""Policies and verdicts, as blocks of a report and in a screenful."""
