"""``mipaudit query``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.options import common_options as c
from mipaudit.options.seed_text import SEED_METAVAR
from mipaudit.output import exit_code

HELP: Final = """Make a score file from tables: how close is the synthetic table to each record?

Whoever releases synthetic records has tables, not scores: the records that the generator
was trained on (members), others from the same source (holdout), and what was released
(synthetic). Each query gives every member and holdout record a score; the score file is
then audited by mipaudit estimate.

\b
Queries, on which side members are expected in brackets:
  nn          distance to the nearest synthetic record [low]
  kth:K       distance to synthetic neighbour number K; kth alone: 5 [low]
  lnr:K       distance to the nearest over that to number K; lnr alone: 2 [low]
  mc:R        Monte-Carlo within a ball of radius R; mc alone: median heuristic [high]
  share:R     share of the synthetic records in that ball [high]
  density     density of synthetic over reference records, DOMIAS; --reference [high]
  classifier  log odds of being synthetic, by a classifier; --reference [high]

\b
Examples:
  mipaudit query nn --members m.parquet --holdout h.parquet --synthetic s.parquet -o nn.parquet
      The distance to the nearest synthetic record, of every record.
  mipaudit query nn mc kth:5 lnr --members m.csv --holdout h.csv --synthetic s.csv -o all.csv
      Several queries at once, each a column of its own.
  mipaudit query density classifier --reference r.csv --members m.csv --holdout h.csv \
--synthetic s.csv -o ratio.csv --ignore zip
      Against records of neither class; the column zip is left out.
  mipaudit query nn --members m.csv --holdout h.csv --synthetic s.csv --keep person,sex -o nn.csv
      The score file has person and sex, for estimate --unit-col and records --by.
"""


def _listed(name: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar="COL,COL", help=help, show_default=False)


def _file(name: str, help: str) -> Any:  # noqa: A002, ANN401
    return typer.Option(name, metavar="FILE", help=help, show_default=False)


def query(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY...",
            help="nn, kth:K, lnr:K, mc:R, share:R, density or classifier.",
            show_default=False,
        ),
    ] = None,
    members: Annotated[
        str | None, _file("--members", "Records of the training data: CSV or Parquet.")
    ] = None,
    holdout: Annotated[
        str | None, _file("--holdout", "Records of the same source that were not trained on.")
    ] = None,
    synthetic: Annotated[
        str | None, _file("--synthetic", "The records that were released.")
    ] = None,
    reference: Annotated[
        str | None, _file("--reference", "Records of neither class, for density and classifier.")
    ] = None,
    columns: Annotated[
        list[str] | None, _listed("--columns", "Compare these. Default: all but row labels.")
    ] = None,
    ignore: Annotated[list[str] | None, _listed("--ignore", "Leave these out.")] = None,
    categorical: Annotated[
        list[str] | None, _listed("--categorical", "Numbers that are categories, such as codes.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="COL=LOW:HIGH",
            help="The range of a column of numbers, known beforehand; repeat for several.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        Literal["euclidean", "gower"],
        # The last name is the key in a policy file, where `metric` is that of `estimate`.
        typer.Option(
            "--metric",
            "--distance-metric",
            help="Of the distances; categories are one-hot, or mismatches.",
        ),
    ] = "euclidean",
    scale: Annotated[
        Literal["robust", "range"],
        typer.Option(
            "--scale",
            "--number-scale",
            help="A difference of 1 in numbers: 5% to 95%, or the full range.",
        ),
    ] = "robust",
    encode_on: Annotated[
        Literal["synthetic", "reference"],
        typer.Option("--encode-on", help="The table that the scales come from."),
    ] = "synthetic",
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="About how much to use, as 500M.")
    ] = "4G",
    keep: Annotated[
        list[str] | None,
        _listed("--keep", "Carry these of members and holdout to the score file: keys, groups."),
    ] = None,
    approximate: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--approximate",
            help="Search neighbours approximately (nn, kth, lnr): faster, and a weaker query. "
            'Needs pip install "mipaudit[approximate]".',
        ),
    ] = False,
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed",
            metavar=SEED_METAVAR,
            help="Decides with the rows what density, classifier and --approximate draw; fresh "
            "draws one that is recorded. Default: the rows alone decide.",
        ),
    ] = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the scores there (.csv, .csv.gz, .parquet), all of it or nothing.",
        ),
    ] = None,
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Score the records, write the score file and the report; return the exit code."""
    from dataclasses import replace

    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.query import run as api
    from mipaudit.commands.query.kind import parse_queries
    from mipaudit.options.plain_values import require
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.options.texts.column_lists import column_list, column_ranges
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    parse_queries(tuple(kinds or ()))
    require(
        output is not None and output != "-",
        "output",
        "Say where the scores go.",
        "For example: -o scores.parquet",
    )
    form = api.score_format(output, None)
    inputs = (members, holdout, synthetic, reference)
    shown = Destination.open(None)
    scores = Destination.open(output, inputs=inputs, private=True)
    with (
        progress_bar(quiet=quiet, doing="comparing", estimate=True) as progress,
        scores.stream() as file,
    ):
        report = api.query(
            tuple(kinds or ()),
            members=members,
            holdout=holdout,
            synthetic=synthetic,
            reference=reference,
            output=file,
            output_format=form,
            columns=column_list(columns),
            ignore=column_list(ignore),
            categorical=column_list(categorical),
            ranges=column_ranges(ranges or ()),
            metric=metric,
            scale=scale,
            encode_on=encode_on,
            memory=memory,
            seed=parse_seed(seed),
            approximate=approximate,
            keep=column_list(keep),
            progress=progress,
            settings=settings_of(context),
        )
    following = report.following.replace("SCORES", api.shown_name(output))
    shown.write(encode(replace(report, following=following), format, to_file=False))
    note("The scores are written.", quiet=quiet)
    return exit_code.OK
