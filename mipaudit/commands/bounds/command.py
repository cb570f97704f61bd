"""``mipaudit bounds``."""

# Annotations are objects here, not strings, which typer would compile: twice for each option.

from typing import Annotated, Any, Final

import typer

from mipaudit.options import common_options as o
from mipaudit.output import exit_code

HELP: Final = """Say what a privacy guarantee allows an attacker, and back.

Nothing is read: this is mathematics. Ask one of three questions: what does a
guarantee allow, which guarantee does a target need, what does an attack rule out.

\b
Examples:
  mipaudit bounds --epsilon 1 --delta 1e-5
      Advantage, accuracy, TPR at low FPR, precision: what no attacker can
      exceed, with every published bound beside the exact one.
  mipaudit bounds --advantage 0.1
      The epsilon, the mu and the noise that keep every attacker below it.
  mipaudit bounds --tp 90 --fn 10 --fp 1 --tn 99
      The epsilon that an attack rules out, with confidence limits.
  mipaudit bounds --dp-sgd noise_multiplier=0.8,q=0.01,steps=10000
      Needs the extra: pip install "mipaudit[accounting]"
  mipaudit bounds --counting-queries k=100,n=1000 --noise-sd 0.01
      The averaging attack on noisy averages.
"""


def _number(name: str, help: str, metavar: str = "X") -> Any:  # noqa: A002, ANN401 - typer says so too
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


def bounds(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    epsilon: Annotated[float | None, _number("--epsilon", "Differential privacy.", "E")] = None,
    delta: Annotated[
        float | None,
        _number("--delta", "In [0, 1]. Default: 0, or 1e-5 where epsilon is derived.", "D"),
    ] = None,
    mu: Annotated[float | None, _number("--mu", "Gaussian differential privacy.", "MU")] = None,
    rho: Annotated[
        float | None, _number("--rho", "Zero-concentrated differential privacy.", "RHO")
    ] = None,
    noise_sd: Annotated[
        float | None, _number("--noise-sd", "Gaussian noise: its standard deviation.", "SD")
    ] = None,
    scale: Annotated[
        float | None, _number("--scale", "Laplace noise on one number: its scale.", "B")
    ] = None,
    geometric_scale: Annotated[
        float | None,
        _number("--geometric-scale", "Geometric noise on one whole number: its scale.", "B"),
    ] = None,
    sensitivity: Annotated[
        float | None,
        _number("--sensitivity", "How far a neighbour moves what gets the noise. Default: 1.", "S"),
    ] = None,
    randomized_response: Annotated[
        float | None,
        _number("--randomized-response", "Probability of the true answer.", "P"),
    ] = None,
    categories: Annotated[
        int | None,
        _number("--categories", "How many answers there are. Default: 2.", "K"),
    ] = None,
    dp_sgd: Annotated[
        str | None,
        _number("--dp-sgd", "DP-SGD with Poisson sampling.", "noise_multiplier=,q=,steps="),
    ] = None,
    compose: Annotated[
        list[str] | None,
        _number(
            "--compose",
            "A part of a composition; repeat. KIND: gaussian, laplace, approximate-dp, "
            "randomized-response, dp-sgd.",
            "KIND:NAME=X,...",
        ),
    ] = None,
    counting_queries: Annotated[
        str | None,
        _number("--counting-queries", "Averages of 0/1 values, with --noise-sd on each.", "k=,n="),
    ] = None,
    adjacency: o.AdjacencyOption = None,
    prior: o.PriorOption = 0.5,
    recall_floor: Annotated[
        float,
        typer.Option(
            "--recall-floor", metavar="R", help="Precision is bounded at this recall or more."
        ),
    ] = 0.01,
    advantage: Annotated[
        float | None, _number("--advantage", "Target: the advantage is at most X.")
    ] = None,
    accuracy: Annotated[
        float | None, _number("--accuracy", "Target: the accuracy is at most X.")
    ] = None,
    eta: Annotated[
        float | None, _number("--eta", "Target: accuracy at most X above guessing (MIP).")
    ] = None,
    tpr_at_fpr: Annotated[
        str | None, _number("--tpr-at-fpr", "Target: TPR at most T at FPR F.", "T@F")
    ] = None,
    tpr: Annotated[float | None, _number("--tpr", "An attack's true-positive rate.")] = None,
    fpr: Annotated[float | None, _number("--fpr", "An attack's false-positive rate.")] = None,
    tp: Annotated[int | None, _number("--tp", "Members that it called members.", "N")] = None,
    fn: Annotated[int | None, _number("--fn", "Members that it did not.", "N")] = None,
    fp: Annotated[
        int | None, _number("--fp", "Holdout records that it called members.", "N")
    ] = None,
    tn: Annotated[int | None, _number("--tn", "Holdout records that it did not.", "N")] = None,
    confidence: o.ConfidenceOption = 0.95,
    curve: Annotated[
        str | None,
        _number("--curve", "Write the curves there, as .csv or .json.", "FILE"),
    ] = None,
    plot: Annotated[
        str | None,
        _number("--plot", "Draw bounds and ROC there (.png, .pdf, .svg).", "FILE"),
    ] = None,
    format: o.FormatOption = "table",  # noqa: A002
    output: o.OutputOption = None,
    sha256: o.Sha256Option = True,  # noqa: FBT002
    quiet: o.QuietOption = False,  # noqa: FBT002
    verbose: o.VerboseOption = False,  # noqa: FBT002
) -> int:
    """Translate, and write the answer; return the exit code."""
    from dataclasses import replace

    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.commands.bounds import run as api
    from mipaudit.commands.bounds.guarantee.accounted import PARTS
    from mipaudit.options.texts.keyed_numbers import parse_keyed_numbers, parse_parts
    from mipaudit.options.texts.operating_limit import parse_operating_limit
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import note, tame_warnings
    from mipaudit.output.presentation import encode

    tame_warnings(verbose=verbose)
    destination = Destination.open(output, sha256=sha256)
    curve_files = None
    if curve is not None or plot is not None:
        from mipaudit.commands.bounds.pages.curve_files import CurveFiles

        curve_files = CurveFiles.open(curve=curve, plot=plot, report=destination)
    report = api.bounds(
        epsilon=epsilon,
        delta=delta,
        mu=mu,
        rho=rho,
        noise_sd=noise_sd,
        scale=scale,
        geometric_scale=geometric_scale,
        sensitivity=sensitivity,
        randomized_response=randomized_response,
        categories=categories,
        dp_sgd=parse_keyed_numbers(dp_sgd, option="--dp-sgd", keys=PARTS["dp-sgd"]),
        compose=parse_parts(compose or (), option="--compose", kinds=PARTS),
        counting_queries=parse_keyed_numbers(
            counting_queries, option="--counting-queries", keys=("k", "n")
        ),
        adjacency=adjacency,
        prior=prior,
        recall_floor=recall_floor,
        advantage=advantage,
        accuracy=accuracy,
        eta=eta,
        tpr_at_fpr=parse_operating_limit(tpr_at_fpr, option="--tpr-at-fpr"),
        tpr=tpr,
        fpr=fpr,
        tp=tp,
        fn=fn,
        fp=fp,
        tn=tn,
        confidence=confidence,
        curves=curve_files is not None,
        settings=settings_of(context),
    )
    if curve_files is not None:
        curve_files.write(report)
    shown = replace(report, curves=None)  # they have a file of their own
    destination.write(encode(shown, format, to_file=destination.path is not None))
    if destination.path is not None:
        note("The report is written.", quiet=quiet)
    return exit_code.OK
