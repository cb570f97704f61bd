"""``mipaudit validate``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import realpath
from typing import Annotated, Any, Final

import typer

from mipaudit.errors import MipauditError, UsageError
from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output import exit_code

HELP: Final = """Check on your own machine that every interval holds.

Draws files from distributions with known truth, audits each as `estimate` would, and
counts how often every limit misses the truth. Other methods run beside ours, and some
of them are known to be invalid: a run that does not catch them has failed. Exit code 0:
no limit covers less than it promises; 1: one does, or an invalid method was not caught.

\b
Examples:
  mipaudit validate
      The short form: at most three minutes on two processors.
  mipaudit validate --full --resume cells.jsonl -f markdown -o validation.md
      The long form, about an hour; stop it when you like, and run it again to go on.
  mipaudit validate --scenario comb-64 --sizes 200,5000 --priors 0.5 --replications 2000
      Your own cells.
  mipaudit validate --estimand auc --estimand tpr_at_fpr
      Only these limits.
"""


def _optional(name: str, metavar: str, help: str) -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def validate(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    full: Annotated[  # noqa: FBT002
        bool, typer.Option("--full/--quick", help="The long form, or the short one.")
    ] = False,
    estimands: Annotated[
        list[str] | None,
        _optional("--estimand", "NAME", "Only limits of this; repeat. Default: all."),
    ] = None,
    scenarios: Annotated[
        list[str] | None,
        _optional("--scenario", "NAME", "Only this distribution; repeat."),
    ] = None,
    replications: Annotated[
        int | None,
        _optional("--replications", "R", "Files per cell. Default: 1000, or 4000 with --full."),
    ] = None,
    sizes: Annotated[
        str | None,
        _optional("--sizes", "N,N,...", "Records per file, half of them members: 20 or more."),
    ] = None,
    priors: Annotated[
        str | None, _optional("--priors", "P,P,...", "Priors, each in (0, 1).")
    ] = None,
    strict: Annotated[  # noqa: FBT002
        bool, typer.Option("--strict", help="Check the finite-sample methods of --strict.")
    ] = False,
    seed: o.SeedOption = 0,
    jobs: Annotated[
        int | None,
        _optional("--jobs", "N", "Processes. Default: one per processor; the answer is the same."),
    ] = None,
    resume: Annotated[
        str | None,
        _optional("--resume", "FILE", "Keep finished cells there, and go on from it."),
    ] = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Run it and write the report; return the exit code."""
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.validate import run as api
    from mipaudit.options.texts.number_list import parse_numbers, parse_whole_numbers
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    _require_apart(output, resume)
    destination = Destination.open(output, inputs=(resume,), sha256=sha256)
    with (
        _kept_cells(resume),
        progress_bar(quiet=quiet, doing="validating", estimate=True) as progress,
    ):
        report = api.validate(
            full=full,
            estimands=tuple(estimands or ()),
            scenarios=tuple(scenarios or ()),
            replications=replications,
            sizes=parse_whole_numbers(sizes, option="--sizes"),
            priors=parse_numbers(priors, option="--priors") or (),
            jobs=jobs,
            seed=seed,
            strict=strict,
            resume=resume,
            progress=progress,
            settings=settings_of(context),
        )
    destination.write(encode(report, format, to_file=destination.path is not None))
    if destination.path is not None:
        from mipaudit.commands.validate.tables import headline

        note(headline(report), quiet=quiet)
    return exit_code.OK if report.passed else exit_code.NOT_MET


def _require_apart(output: str | None, resume: str | None) -> None:
    """Refuse a report that would take the place of the finished cells."""
    if output is not None and resume is not None and realpath(output) == realpath(resume):
        raise UsageError(
            "output_is_input",
            "The report and the finished cells cannot go to one file.",
            hint="Choose another file for -o.",
        )


@contextmanager
def _kept_cells(resume: str | None) -> Iterator[None]:
    """Say, when control-C ends the run, that what is finished is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if resume is None:
            raise
        interrupted = MipauditError(
            "interrupted",
            "Interrupted; the finished cells are kept.",
            hint="Run the same command again to go on.",
        )
        interrupted.exit_code = exit_code.INTERRUPTED
        raise interrupted from None
