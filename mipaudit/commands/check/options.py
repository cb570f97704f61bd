"""What ``mipaudit check`` may be asked."""

from mipaudit.options import scores
from mipaudit.options.declare import Options
from mipaudit.options.scores import BadParts, Classes, Columns, Engines, Seeded


class _Data(Options, kw_only=False):
    data: scores.Data = scores.SEVERAL_OPTION.but(
        "CSV (also .gz, .zst) or Parquet files, folders or patterns of such files, addresses "
        "(s3://, gs://, az://, https://), or - for standard input. Several are one data set."
    )


class CheckOptions(_Data, Classes, Columns, BadParts, Seeded, Engines):
    """The scores, and how they are understood."""

    HELP = """Show what is in a score file, and whether it can be audited.

Prints the columns that an audit would use, the rows per class, ties and repeated
values, and anything else worth knowing before an audit. Exit code 0: the file can be
audited; 2: it cannot, and the error says why. No value from the data is ever printed.

\b
Examples:
  mipaudit check scores.parquet
  mipaudit check --members in.csv --holdout out.csv
  mipaudit check scores.csv --score-col loss --where "model = 3" -f json
"""
