"""What is shown of a simulated file's truth, and of the list of scenarios."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, cast

from mipaudit.formats.document import Case, Document, Grid, Heading, Paragraph
from mipaudit.statements.text.rounding import count_text, number_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.formats.document import Section
    from mipaudit.validation.truth import ScenarioList, Truth, TruthReport

_QUANTITIES: Final = {
    "advantage": "advantage",
    "blind_advantage": "advantage without the score (blind)",
    "baseline": "  of guessing without looking (baseline)",
    "excess": "  of any attacker, above that (excess)",
    "eta": "accuracy above guessing (eta)",
    "accuracy": "accuracy",
    "auc": "AUC",
    "mu": "mu of Gaussian differential privacy",
    "tpr": "TPR",
    "fpr": "FPR",
    "tpr_minus_fpr": "TPR - FPR",
    "sigma_1": "sigma_1 (mean distance from the median)",
    "sigma_2": "sigma_2 (standard deviation)",
    "sensitivity": "sensitivity (largest move when a record is exchanged)",
    "swap_distance": "swap distance (mean move), of the record with the largest",
    "swap_distance_average": "swap distance, of the average record",
}
_ATTACKERS: Final = {
    "any": "any attacker",
    "thresholds": "one threshold",
    "intervals-1": "one interval",
    "intervals-4": "up to four intervals",
}
_ROWS: Final = {"members": "members", "holdout": "holdout records"}
_DIGITS: Final = 6
_NO_VALUE: Final = "none"


def simulate_document(report: TruthReport | ScenarioList) -> Document:
    """Return a truth or the list of scenarios as a document."""
    # The list is told by its command: its class would have to be loaded for `isinstance`.
    drawn = report.command == "simulate"
    sections = (
        _truth(cast("TruthReport", report)) if drawn else _scenarios(cast("ScenarioList", report))
    )
    nothing = "a simulation states what is true, and judges nothing"
    return Document(
        title="mipaudit simulate",
        headline="",
        mood="plain",
        summary="",
        sections=tuple(sections),
        cases=(Case(group="simulate", name="verdict", status="skipped", text=nothing),),
        created=report.provenance.created,
    )


def _scenarios(report: ScenarioList) -> Iterator[Section]:
    for heading, entries in groupby(report.scenarios, key=lambda entry: entry.heading):
        rows = tuple((entry.name, entry.summary) for entry in entries)
        yield (
            Heading(text=heading),
            Grid(caption=heading, head=("", ""), rows=rows, words=1, prose=True),
        )
    yield (_ranges(report),)


def _truth(report: TruthReport) -> Iterator[Section]:
    rows = " and ".join(
        f"{count_text(size)} {_ROWS.get(what, what)}" for what, size in report.rows.items()
    )
    order = f", {report.order}" if report.order else ""
    drawn = f"{rows}{order}; columns {', '.join(report.columns)}; seed {report.provenance.seed}."
    yield (Paragraph(text=f"Scenario {report.scenario}: {report.summary}."), Paragraph(text=drawn))
    prior = "" if report.prior is None else f" at prior {number_text(report.prior)}"
    for (sees, group), truths in groupby(report.truths, key=lambda t: (t.sees, t.group)):
        of = "" if group is None else f" of the group {group!r}"
        title = f"What is true of {sees}{of}{prior}"
        values = tuple((_name(truth), _value(truth)) for truth in truths)
        yield (
            Heading(text=title),
            Grid(caption=title, head=("", ""), rows=values, words=1),
        )
    reasons = dict.fromkeys(t.value_reason for t in report.truths if t.value_reason)
    sources = dict.fromkeys((t.attackers, t.source) for t in report.truths if t.attackers)
    notes = [
        *(f"{_NO_VALUE}: {reason}." for reason in reasons),
        *(f"Guessing from {name}: {source}." for name, source in sources if source),
        *report.notes,
    ]
    for text in notes:
        yield (Paragraph(text=text),)


def _name(truth: Truth) -> str:
    if truth.quantity == "tpr_at_fpr" and truth.fpr is not None:
        return f"TPR at FPR {percent_text(truth.fpr)}, members {truth.side}"
    if truth.quantity == "epsilon" and truth.delta is not None:
        return f"epsilon at delta {number_text(truth.delta)}"
    text = _QUANTITIES[truth.quantity]
    if truth.quantity not in {"advantage", "tpr", "fpr", "tpr_minus_fpr"}:
        return text
    return f"{text}, {_ATTACKERS.get(truth.attackers or '', f'guessing from {truth.attackers}')}"


def _value(truth: Truth) -> str:
    return _NO_VALUE if truth.value is None else f"{truth.value:.{_DIGITS}g}"


def _ranges(report: ScenarioList) -> Grid:
    """Return what stands for the words in capitals."""
    rows = []
    for entry in report.scenarios:
        if entry.parameters:
            ranges = ", ".join(
                f"{p.name} {number_text(p.lowest)} to {number_text(p.highest)}"
                + {None: "", 1: " (whole)", 2: " (even)"}[p.step]
                for p in entry.parameters
            )
            rows.append((entry.examples[0], ranges))
    return Grid(
        caption="What the numbers in a name may be",
        head=("Names with numbers, for example", "range"),
        rows=tuple(rows),
        words=1,
        prose=True,
    )
