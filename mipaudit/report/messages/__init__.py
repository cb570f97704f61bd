"""Every sentence that tells, an entry for each code; nothing is decided here."""
