"""What a report is made of: values that decide and are told, never sentences."""
