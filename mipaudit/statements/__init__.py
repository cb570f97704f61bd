"""What a report states: estimates, findings, limits, verdicts, and where they come from."""
