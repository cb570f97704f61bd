"""The typed report, its JSON form and its provenance."""
