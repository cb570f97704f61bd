"""``mipaudit epsilon``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final, Literal

import typer

from mipaudit.options import common_options as c
from mipaudit.options import shared_options as o
from mipaudit.output import exit_code

HELP: Final = """Say which epsilon of differential privacy the data refute.

A lower confidence limit on epsilon at delta, valid after the search for the best
attack. What it certifies depends on how the scores came about, so --design must say:

\b
  independent-runs  a row is one run of the mechanism, with the record or without
  one-run           a row is a canary of one run, included by its own coin
  one-model         a row is a member or holdout record of one model: certifies nothing

\b
Examples:
  mipaudit epsilon runs.parquet --design independent-runs
      The largest epsilon at delta 1e-5 that is refuted with 95% confidence.
  mipaudit epsilon runs.parquet --design independent-runs --claimed-epsilon 1 --delta 0
      A claim: exit 1 if it is refuted, else 0, with what the runs could have found.
  mipaudit epsilon canaries.csv --design one-run --guesses 200,200
      The 200 highest scores are guessed in, the 200 lowest out.
  mipaudit epsilon canaries.csv --design one-run --claimed-curve dpsgd.csv
      A whole guarantee, as mipaudit bounds --curve dpsgd.csv writes it.
  mipaudit epsilon --design independent-runs --tp 500 --fn 0 --fp 0 --tn 500
  mipaudit epsilon --canaries 1000 --guesses 100 --correct 90
      From counts, of an attack that was fixed beforehand.
"""


def _number(name: str, help: str, metavar: str = "X") -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def epsilon(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scores: o.ScoresArgument = None,
    members: o.MembersOption = None,
    holdout: o.HoldoutOption = None,
    design: Annotated[
        Literal["independent-runs", "one-run", "one-model"] | None,
        typer.Option("--design", help="How the scores came about. No default.", show_default=False),
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", metavar="D", help="Of every epsilon, in [0, 1].")
    ] = 1e-5,
    confidence: Annotated[
        float,
        typer.Option("--confidence", metavar="C", help="Of the limit, at least 0.5 and below 1."),
    ] = 0.95,
    claimed_epsilon: Annotated[
        float | None, _number("--claimed-epsilon", "A claim to refute, at --delta.", "E")
    ] = None,
    claimed_mu: Annotated[
        float | None, _number("--claimed-mu", "A claim of Gaussian differential privacy.", "MU")
    ] = None,
    claimed_curve: Annotated[
        str | None,
        _number(
            "--claimed-curve",
            "A claim that no attacker exceeds the ROC in this file: columns fpr and tpr, or "
            "what bounds --curve writes.",
            "FILE",
        ),
    ] = None,
    true_epsilon: Annotated[
        float | None,
        _number("--true-epsilon", "Plan for this truth. Default: twice the claim.", "E"),
    ] = None,
    method: Annotated[
        Literal["conditional", "grid-cp", "split-cp", "bands", "bayes", "gdp"],
        typer.Option(
            "--method", help="Independent runs: how. bayes is credible; gdp needs --assume-gdp."
        ),
    ] = "conditional",
    splits: Annotated[
        int,
        typer.Option("--splits", metavar="N", help="Independent runs: combine N random splits."),
    ] = 1,
    assume_gdp: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--assume-gdp", help="Add what holds only if the mechanism is Gaussian."),
    ] = False,
    guesses: Annotated[
        str | None,
        _number(
            "--guesses",
            "One run: how many canaries to guess, or how many in and how many out, fixed "
            "beforehand. Default: several numbers that share the error.",
            "R|K+,K-",
        ),
    ] = None,
    member_side: Annotated[
        Literal["auto", "high", "low"],
        typer.Option("--member-side", help="One run: where included score, if known beforehand."),
    ] = "auto",
    tp: Annotated[int | None, _number("--tp", "Runs with the record called so.", "N")] = None,
    fn: Annotated[int | None, _number("--fn", "Runs with the record not called so.", "N")] = None,
    fp: Annotated[
        int | None, _number("--fp", "Runs without the record called runs with it.", "N")
    ] = None,
    tn: Annotated[
        int | None, _number("--tn", "Runs without the record not called so.", "N")
    ] = None,
    numerator: Annotated[
        Literal["either", "member", "holdout", "both"] | None,
        _number(
            "--numerator",
            "Whose right guesses count, of these counts. Default: either class, at half the "
            "error each.",
            "[either|member|holdout|both]",
        ),
    ] = None,
    canaries: Annotated[
        int | None, _number("--canaries", "Canaries of one run, with --guesses.", "M")
    ] = None,
    correct: Annotated[
        int | None, _number("--correct", "How many of the guesses are right.", "V")
    ] = None,
    inclusion_rate: Annotated[
        float | None,
        _number(
            "--inclusion-rate",
            "One run: with what probability each coin included its canary, if that is known, "
            "say 0.5. Default: every rate that the canaries included do not speak against.",
            "S",
        ),
    ] = None,
    run_column: Annotated[
        str | None,
        _number(
            "--run-col",
            "The run of a row: several runs, each with coins of its own and their number fixed "
            "beforehand, are one audit. Needs --key-col, the canary.",
            "NAME",
        ),
    ] = None,
    score_columns: o.ScoreColumnOption = None,
    member_column: o.MemberColumnOption = None,
    member_value: o.MemberValueOption = None,
    where: o.WhereOption = None,
    unit_column: o.UnitColumnOption = None,
    unit_rows: o.UnitRowsOption = None,
    rows_are: o.RowsAreOption = None,
    key_column: o.KeyColumnOption = None,
    nan: o.NanOption = "error",
    curve: Annotated[
        str | None,
        _number("--curve", "Write epsilon at many deltas there, as .csv or .json.", "FILE"),
    ] = None,
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--exit-zero", help="Exit 0 also when the claim is refuted.")
    ] = False,
) -> int:
    """Run the audit and write its report; return the exit code."""
    from dataclasses import replace

    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.epsilon import run as api
    from mipaudit.commands.epsilon.guess_numbers import parse_guesses
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note_written, tame_warnings
    from mipaudit.output.presentation import encode
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    spare_imports()
    inputs = (scores, members, holdout, claimed_curve)
    destination = Destination.open(output, inputs=inputs, sha256=sha256)
    profile = None
    if curve is not None:
        from mipaudit.commands.epsilon.pages.profile_file import ProfileFile

        profile = ProfileFile.open(curve, report=destination, inputs=inputs)
    with progress_bar(quiet=quiet) as progress:
        report = api.epsilon(
            scores,
            members=members,
            holdout=holdout,
            design=design,
            delta=delta,
            confidence=confidence,
            claimed_epsilon=claimed_epsilon,
            claimed_mu=claimed_mu,
            claimed_curve=claimed_curve,
            true_epsilon=true_epsilon,
            method=method,
            splits=splits,
            assume_gdp=assume_gdp,
            guesses=parse_guesses(guesses),
            member_side=member_side,
            tp=tp,
            fn=fn,
            fp=fp,
            tn=tn,
            numerator=numerator,
            canaries=canaries,
            correct=correct,
            inclusion_rate=inclusion_rate,
            run_column=run_column,
            score_columns=tuple(score_columns or ()),
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            key_column=key_column,
            nan=nan,
            curve=profile is not None,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            progress=progress,
            settings=settings_of(context),
        )
    if profile is not None:
        profile.write(report)
    shown = replace(report, profile=None)  # it has a file of its own
    destination.write(encode(shown, format, to_file=destination.path is not None))
    if destination.path is not None:
        note_written(report, quiet=quiet)
    refuted = report.claim is not None and report.claim.status == "refuted"
    return exit_code.NOT_MET if refuted and not exit_zero else exit_code.OK
