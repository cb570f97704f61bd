"""What ``mipaudit check`` may be asked."""

from mipaudit.options.scores import BadParts, Classes, Columns, Engines, Seeded, SeveralScores


class CheckOptions(SeveralScores, Classes, Columns, BadParts, Seeded, Engines):
    """The scores, and how they are understood."""

    HELP = """Show what is in a score file, and whether it can be audited.

The report shows which columns an audit would use, how many members and holdout records there are,
and how often scores repeat. The exit code is 0 if the file can be audited, else 2. No value from
the data is ever printed.

\b
Examples:
  mipaudit check scores.parquet
  mipaudit check scores.csv --score-col loss --where "model = 3" -f json
"""
