"""Shows a report: reads it and nothing else."""
