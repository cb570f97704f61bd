"""How a run ends: exit codes, and what is said when it fails."""
