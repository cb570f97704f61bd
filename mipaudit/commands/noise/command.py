"""``mipaudit noise``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.errors import UsageError
from mipaudit.options import common_options as o
from mipaudit.output import exit_code

HELP: Final = """Say how much noise makes a release membership-inference private.

A promise of eta: whoever sees the release tells a member from another record with an
accuracy of at most eta above guessing. Without --from this is mathematics; with it
the noise is calibrated on random splits of your own data, and can be added.

\b
Examples:
  mipaudit noise --eta 0.1 --k 2
      How many times its spread a release needs, by every known calibration.
  mipaudit noise --eta 0.1 --moment 0.5 --sensitivity 20 --dimension 10
      The same as scales, with the error that the release will have.
  mipaudit noise --eta 0.1 --from splits.parquet
      Calibrated: rows are random splits, columns the numbers of the release.
  mipaudit noise --eta 0.1 --from splits.parquet --strict
      With limits that hold at every number of splits, whatever the release.
  mipaudit noise --eta 0.1 --from splits.csv --apply release.csv -o noised.csv
      Adds the noise; noised.csv.report.json says what was added and why.
"""


def _optional(name: str, metavar: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def noise(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    eta: Annotated[
        float,
        typer.Option("--eta", metavar="X", help="Accuracy above guessing, in (0, 0.5)."),
    ],
    k: Annotated[
        float,
        typer.Option("--k", metavar="K", help="Order of the published moment: 1 or more, or inf."),
    ] = 2.0,
    train_fraction: Annotated[
        float,
        typer.Option(
            "--train-fraction", metavar="Q", help="Share of the records that is trained on."
        ),
    ] = 0.5,
    moment: Annotated[
        float | None,
        _optional("--moment", "SIGMA", "Sigma_k: k-th root of the release's k-th central moment."),
    ] = None,
    swap_distance: Annotated[
        float | None,
        _optional("--swap-distance", "D", "Mean move of the release when one record is exchanged."),
    ] = None,
    sensitivity: Annotated[
        float | None,
        _optional("--sensitivity", "S", "Largest move when one record is exchanged, for any data."),
    ] = None,
    dimension: Annotated[
        int | None,
        _optional("--dimension", "N", "How many numbers are released. Default: 1."),
    ] = None,
    splits: Annotated[
        str | None,
        _optional(
            "--from",
            "SPLITS",
            "A table: one row per random split, one column per released number.",
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        _optional(
            "--pairs", "PAIRS", "Releases before and after a swap: pair_id, side, maybe record."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        _optional("--columns", "NAME", "A released number; repeat. Default: all but row labels."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        _optional("--ignore", "NAME", "A column that is no released number; repeat."),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="C", help="Of the limits.")
    ] = 0.95,
    strict: Annotated[  # noqa: FBT002 - an option
        bool,
        typer.Option(
            "--strict", help="Limits that hold at every number of splits; takes more of them."
        ),
    ] = False,
    clip_radius: Annotated[
        float | None,
        _optional(
            "--clip-radius",
            "R",
            "Strict, and clip the release into this ball, chosen without the data.",
        ),
    ] = None,
    clip_centre: Annotated[
        str | None,
        _optional("--clip-centre", "X,X,...", "Centre of the ball. Default: the origin."),
    ] = None,
    calibration: Annotated[
        Literal["moment", "swap", "direct", "direct-swap", "paper"] | None,
        _optional(
            "--calibration",
            "<moment|swap|direct|direct-swap|paper>",
            "Choose only among these.",
        ),
    ] = None,
    mechanism: Annotated[
        Literal["laplace", "norm-exponential", "gaussian"] | None,
        _optional("--mechanism", "<laplace|norm-exponential|gaussian>", "Choose only this noise."),
    ] = None,
    shape: Annotated[
        Literal["isotropic", "diagonal", "full"] | None,
        _optional("--shape", "<isotropic|diagonal|full>", "Choose only noise of this shape."),
    ] = None,
    protect: Annotated[
        Literal["every-record", "tested-records", "average-record"],
        typer.Option(
            "--protect",
            help="Every record, the records that --pairs exchanges, or records on average.",
        ),
    ] = "every-record",
    error_units: Annotated[
        Literal["standardised", "given"],
        typer.Option("--error-units", help="In what units the total error is made least."),
    ] = "standardised",
    scaled_by: Annotated[
        Literal["upper", "value"],
        typer.Option("--scaled-by", help="The upper limit of what is estimated, or its value."),
    ] = "upper",
    release: Annotated[
        str | None,
        _optional("--apply", "RELEASE", "A vector to add the noise to; -o names the result."),
    ] = None,
    release_unlike_splits: Annotated[
        Literal["refuse", "accept"],
        typer.Option(
            "--release-unlike-splits",
            help="What to do with a release that lies far beyond all splits.",
        ),
    ] = "refuse",
    seed: Annotated[
        int | None,
        _optional("--seed", "INTEGER", "Experiments only: who knows it can undo the noise."),
    ] = None,
    format: o.FormatOption = "table",  # noqa: A002
    output: o.OutputOption = None,
    sha256: o.Sha256Option = True,  # noqa: FBT002
    quiet: o.QuietOption = False,  # noqa: FBT002
    verbose: o.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Calibrate, perhaps add the noise, and write the answer; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.options.texts.number_list import parse_numbers
    from mipaudit.output.notes import tame_warnings

    tame_warnings(verbose=verbose)
    keywords = {
        "eta": eta,
        "k": k,
        "train_fraction": train_fraction,
        "moment": moment,
        "swap_distance": swap_distance,
        "sensitivity": sensitivity,
        "dimension": dimension,
        "splits": splits,
        "pairs": pairs,
        "columns": tuple(columns or ()),
        "ignore": tuple(ignore or ()),
        "confidence": confidence,
        "strict": strict,
        "clip_radius": clip_radius,
        "clip_centre": parse_numbers(clip_centre, option="--clip-centre"),
        "calibration": calibration,
        "mechanism": mechanism,
        "shape": shape,
        "protect": protect,
        "error_units": error_units,
        "scaled_by": scaled_by,
        "seed": seed,
        "settings": settings_of(context),
    }
    if release is not None:
        from mipaudit.commands.noise.files import write_noised

        keywords["release_unlike_splits"] = release_unlike_splits
        write_noised(release, output, keywords, format=format, quiet=quiet)
        return exit_code.OK
    source = context.get_parameter_source("release_unlike_splits")
    if source is not None and source.name == "COMMANDLINE":
        raise UsageError(
            "release_unlike_splits",
            "--release-unlike-splits has no meaning without a release.",
            hint="Add --apply RELEASE.",
        )
    from mipaudit.commands.noise import run as api
    from mipaudit.output.destination import Destination
    from mipaudit.output.presentation import encode

    destination = Destination.open(output, inputs=(splits, pairs), sha256=sha256)
    report = api.noise(**keywords)  # type: ignore[arg-type]
    destination.write(encode(report, format, to_file=destination.path is not None))
    return exit_code.OK
