"""The kinds of report, each once: who writes it, what it is, how it is shown and made again.

Whatever handles reports of every kind reads this table. The functions and types are named, not
imported: only what a report needs is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Literal, NamedTuple


class Figures(NamedTuple):
    """A field of a report with figures: what forms take that others read.

    A row has ``lower`` and ``upper``, limits of its ``value`` or ``estimate``, or the columns
    that are named.

    Attributes:
        field: its name, as that of a table.
        of: what the figures are of; ``{}`` is the row's own ``quantity``.
        at_most: columns that are upper limits by themselves.
        exact: columns that are known, not estimated.
    """

    field: str
    of: str = "{}"
    at_most: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()


class Kind(NamedTuple):
    """A kind of report.

    Attributes:
        schema: the name of its JSON format.
        commands: those that write it, as its field ``command`` has them.
        report: its type, as ``module:name``.
        layout: what it shows, likewise.
        conclusion: the module of what it concludes: a function of the report for the ``answer``,
            the ``remarks``, and each name of the layout that is no field of the report.
        tables: the fields that are its tables as CSV; of a record within it as ``outer.inner``.
        figures: the fields that hold what was found, or is known, in numbers.
        question: what it answers, in the words of somebody who knows none of ours.
        function: the public function that makes it.
        made_of: what that function reads, if ``verify`` can make the report again.
    """

    schema: str
    commands: tuple[str, ...]
    question: str
    report: str
    layout: str
    conclusion: str
    tables: tuple[str, ...]
    figures: tuple[Figures, ...] = ()
    function: str | None = None
    made_of: Literal["scores", "reports", "tables", "nothing"] | None = None


_ALLOWED: Final = ("advantage", "eta", "accuracy", "tpr_at_fpr", "success_at", "precision")
# The version of all formats: a report of another one is not read.
VERSION: Final = "/3"
# Where what all reports have is.
_OF_ALL: Final = "mipaudit.statements.origin"
# In the order in which the JSON Schema lists them.
KINDS: Final = (
    Kind(
        schema="mipaudit.report/3",
        commands=("estimate",),
        question="Can somebody who sees the scores tell whose records were in the training data?",
        report="mipaudit.commands.estimate.report:Report",
        layout="mipaudit.commands.estimate.layout:LAYOUT",
        conclusion="mipaudit.commands.estimate.conclusion",
        tables=("estimates",),
        figures=(Figures("estimates"),),
        function="mipaudit.commands.estimate.run:estimate",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.check/3",
        commands=("check",),
        question="Can these scores be audited?",
        report="mipaudit.commands.check.report:CheckReport",
        layout="mipaudit.commands.check.layout:LAYOUT",
        conclusion="mipaudit.commands.check.conclusion",
        tables=("columns",),
        function="mipaudit.commands.check.run:check",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.bounds/3",
        commands=("bounds",),
        question="How well can anybody tell whose records were used, if the promise holds?",
        report="mipaudit.commands.bounds.report:BoundsReport",
        layout="mipaudit.commands.bounds.layout:LAYOUT",
        conclusion="mipaudit.commands.bounds.conclusion",
        # Of these, one answer has few.
        tables=(
            *("attacker", "other_readings", "bounds", "tuned", "needed"),
            *("refuted", "refuted.limits", "counting_queries"),
        ),
        figures=(
            Figures("attacker", at_most=_ALLOWED),
            Figures("other_readings", at_most=_ALLOWED),
            Figures("needed", exact=("epsilon", "mu", "gaussian_sd", "laplace_scale")),
            Figures("refuted.limits", exact=("epsilon_lower", "epsilon_upper")),
        ),
        function="mipaudit.commands.bounds.run:bounds",
        made_of="nothing",
    ),
    Kind(
        schema="mipaudit.epsilon/3",
        commands=("epsilon",),
        question="Does the mechanism keep its promise of differential privacy?",
        report="mipaudit.commands.epsilon.report:EpsilonReport",
        layout="mipaudit.commands.epsilon.layout:LAYOUT",
        conclusion="mipaudit.commands.epsilon.conclusion",
        tables=("statements",),
        figures=(Figures("statements", of="epsilon"),),
        function="mipaudit.commands.epsilon.run:epsilon",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.compare/3",
        commands=("compare",),
        question="Which query tells more about whose records were in the training data?",
        report="mipaudit.commands.compare.queries.report:CompareReport",
        layout="mipaudit.commands.compare.queries.layout:LAYOUT",
        conclusion="mipaudit.commands.compare.queries.conclusion",
        tables=("advantages", "differences", "best_of", "together", "gains"),
        figures=(
            *(Figures("advantages"), Figures("differences"), Figures("best_of")),
            *(Figures("together"), Figures("gains", of="gain")),
        ),
        function="mipaudit.commands.compare.run:compare",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.compare-reports/3",
        commands=("compare reports",),
        question="Does the new release tell more about whose records were used than the old one?",
        report="mipaudit.commands.compare.reports.report:ReportComparison",
        layout="mipaudit.commands.compare.reports.layout:LAYOUT",
        conclusion="mipaudit.commands.compare.reports.conclusion",
        tables=("changes", "figures", "beside_any", "policy"),
        figures=(Figures("changes", of="change of {}"),),
        function="mipaudit.commands.compare.run:compare",
        made_of="reports",
    ),
    Kind(
        schema="mipaudit.attack/3",
        commands=("attack",),
        question="How well do known attacks tell whose records were in the training data?",
        report="mipaudit.commands.attack.report:AttackReport",
        layout="mipaudit.commands.attack.layout:LAYOUT",
        conclusion="mipaudit.commands.attack.conclusion",
        tables=("attacks", "details", "groups", "optimum", "together", "gaps"),
        figures=tuple(map(Figures, ("optimum", "attacks", "groups", "together", "gaps"))),
        function="mipaudit.commands.attack.run:attack",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.attribute/3",
        commands=("attribute",),
        question="How well can somebody guess a hidden attribute of people in the training data?",
        report="mipaudit.commands.attribute.report:AttributeReport",
        layout="mipaudit.commands.attribute.layout:LAYOUT",
        conclusion="mipaudit.commands.attribute.conclusion",
        tables=("figures", "by_value", "shares"),
        figures=(Figures("figures"), Figures("by_value")),
        function="mipaudit.commands.attribute.run:attribute",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.model-query/3",
        commands=("query losses", "query lira"),
        question="What does the model say of records that it was and was not trained on?",
        report="mipaudit.commands.query.report:ModelQueryReport",
        layout="mipaudit.commands.query.model.layout:LAYOUT",
        conclusion="mipaudit.commands.query.model.conclusion",
        tables=("scores",),
    ),
    Kind(
        schema="mipaudit.noise/3",
        commands=("noise",),
        question="How much noise hides whose records were used?",
        report="mipaudit.commands.noise.report:NoiseReport",
        layout="mipaudit.commands.noise.layout:LAYOUT",
        conclusion="mipaudit.commands.noise.conclusion",
        tables=("calibrations", "measured.candidates"),
        figures=(Figures("calibrations", exact=("multiplier", "scale", "expected_norm")),),
        function="mipaudit.commands.noise.run:noise",
        made_of="nothing",
    ),
    Kind(
        schema="mipaudit.query/3",
        commands=("query",),
        question="How close are the released records to those that they were made from?",
        report="mipaudit.commands.query.report:QueryReport",
        layout="mipaudit.commands.query.layout:LAYOUT",
        conclusion="mipaudit.commands.query.conclusion",
        tables=("scores", "copies", "columns", "tables"),
        figures=(Figures("copies", exact=("copied", "rows")),),
        function="mipaudit.commands.query.run:query",
        made_of="tables",
    ),
    Kind(
        schema="mipaudit.records/3",
        commands=("records",),
        question="Which records are most exposed as having been in the training data?",
        report="mipaudit.commands.records.report:RecordsReport",
        layout="mipaudit.commands.records.layout:LAYOUT",
        conclusion="mipaudit.commands.records.conclusion",
        tables=("cells",),
        figures=(Figures("estimates"), Figures("groups", of="advantage")),
        function="mipaudit.commands.records.run:records",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.shift/3",
        commands=("shift",),
        question="Can the two groups of records be told apart without the release?",
        report="mipaudit.commands.shift.report:ShiftReport",
        layout="mipaudit.commands.shift.layout:LAYOUT",
        conclusion="mipaudit.commands.shift.conclusion",
        tables=("estimates", "columns", "copies"),
        figures=(Figures("estimates"),),
        function="mipaudit.commands.shift.run:shift",
        made_of="scores",
    ),
    Kind(
        schema="mipaudit.truth/3",
        commands=("simulate",),
        question="What is true of scores that were drawn from a known law?",
        report="mipaudit.validation.truth:TruthReport",
        layout="mipaudit.commands.simulate.layout:LAYOUT",
        conclusion="mipaudit.commands.simulate.conclusion",
        tables=("truths",),
        figures=(Figures("truths", exact=("value",)),),
        function="mipaudit.commands.simulate.run:simulate",
    ),
    Kind(
        schema="mipaudit.scenarios/3",
        commands=("simulate --list",),
        question="Which laws can scores be drawn from?",
        report="mipaudit.validation.truth:ScenarioList",
        layout="mipaudit.commands.simulate.layout:SCENARIOS",
        conclusion="mipaudit.commands.simulate.conclusion",
        tables=("scenarios",),
    ),
    Kind(
        schema="mipaudit.validation/3",
        commands=("validate",),
        question="Are the limits that mipaudit prints as often right as they promise?",
        report="mipaudit.validation.report:ValidationReport",
        layout="mipaudit.commands.validate.layout:LAYOUT",
        conclusion="mipaudit.commands.validate.conclusion",
        tables=("rows",),
        function="mipaudit.commands.validate.run:validate",
    ),
    Kind(
        schema="mipaudit.history/3",
        commands=("history",),
        question="How did what can be told of whose records were used change over time?",
        report="mipaudit.commands.history.report:HistoryReport",
        layout="mipaudit.commands.history.layout:LAYOUT",
        conclusion="mipaudit.commands.history.conclusion",
        tables=("reports", "advantages", "steps"),
        function="mipaudit.commands.history.run:history",
    ),
    Kind(
        schema="mipaudit.verification/3",
        commands=("verify",),
        question="Does the report follow from its scores and settings?",
        report="mipaudit.commands.verify.report:VerifyReport",
        layout="mipaudit.commands.verify.layout:LAYOUT",
        conclusion="mipaudit.commands.verify.conclusion",
        tables=("parts",),
    ),
    Kind(
        schema="mipaudit.doctor/3",
        commands=("doctor",),
        question="Does this installation of mipaudit work?",
        report="mipaudit.commands.doctor.report:DoctorReport",
        layout="mipaudit.commands.doctor.layout:LAYOUT",
        conclusion="mipaudit.commands.doctor.conclusion",
        tables=("libraries", "known_audit"),
        function="mipaudit.commands.doctor.run:doctor",
    ),
)


def kind_of(command: str) -> Kind:
    """Return the kind of report that a command writes, by the report's field ``command``."""
    return next(kind for kind in KINDS if command in kind.commands)


def schema_of(command: str) -> str:
    """Return the JSON format of the reports that a command writes."""
    return kind_of(command).schema


def kind_of_schema(schema: str) -> Kind | None:
    """Return the kind of report of a JSON format, None for one that is not read."""
    return next((kind for kind in KINDS if kind.schema == schema), None)


def report_type(kind: Kind) -> type[Any]:
    """Return the type of the reports of a kind, with all that its annotations name."""
    found: type[Any] = named(kind.report)
    for module in (found.__module__, _OF_ALL):
        complete = getattr(import_module(module), "complete", None)
        if complete is not None:
            complete()
    return found


def named(place: str) -> Any:  # noqa: ANN401 - a type or a function
    """Return what is called ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
