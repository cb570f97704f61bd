"""From columns to rows: filters, units, repeats, what is left out."""
