"""The kinds of report, each once: who writes it, what it is, how it is shown and made again.

Whatever handles reports of every kind reads this table. The functions and types are named, not
imported: only what a report needs is loaded.
"""

from importlib import import_module
from typing import Any, Final, Literal, NamedTuple


class Kind(NamedTuple):
    """A kind of report: what its command's folder holds has the same name for each.

    Attributes:
        commands: those that write it, as its field ``command`` has them.
        question: what it answers, in the words of somebody who knows none of ours.
        type: of its reports: a name in the folder's ``report``, or ``module:name``.
        tables: the fields that are its tables as CSV; of a record within it as ``outer.inner``.
        figures: the fields that hold what was found, or is known, in numbers: what forms take that
            others read. A row has ``lower`` and ``upper``, limits of its ``value``, or the columns
            of the next two.
        at_most: columns that are upper limits by themselves.
        exact: columns that are known, not estimated.
        of: what the figures of a field are of, where that is not their ``quantity``.
        name: of its JSON format, where it is not that of the command.
        folder: within ``mipaudit.commands``, likewise.
        shows: the name of its layout there.
        made_of: what the function of its command reads, if ``verify`` can make the report again.
    """

    commands: tuple[str, ...]
    question: str
    type: str
    tables: tuple[str, ...]
    figures: tuple[str, ...] = ()
    at_most: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    of: tuple[str, str] = ("", "{}")
    name: str = ""
    folder: str = ""
    shows: str = "LAYOUT"
    made_of: Literal["scores", "reports", "tables", "nothing"] | None = None

    @property
    def schema(self) -> str:
        """Return the name of its JSON format."""
        return f"mipaudit.{self.name or self.commands[0]}{VERSION}"

    @property
    def report(self) -> str:
        """Return its type, as ``module:name``."""
        return self.type if ":" in self.type else f"{self._place}.report:{self.type}"

    @property
    def layout(self) -> str:
        """Return what it shows, likewise."""
        return f"{self._place}.layout:{self.shows}"

    @property
    def conclusion(self) -> str:
        """Return the module of what it concludes.

        A function of the report for the ``answer``, the ``remarks``, and each name of the layout
        that is no field of the report.
        """
        return f"{self._place}.report"

    @property
    def function(self) -> str:
        """Return the public function that makes it."""
        command = self.commands[0].split()[0]
        return f"mipaudit.commands.{command}.run:{command}"

    @property
    def _place(self) -> str:
        return f"mipaudit.commands.{self.folder or self.commands[0]}"


# The version of all formats: a report of another one is not read.
VERSION: Final = "/3"
# In the order in which the JSON Schema lists them.
KINDS: Final = (
    Kind(
        commands=("estimate",),
        question="Can somebody who sees the scores tell whose records were in the training data?",
        type="Report",
        tables=("estimates",),
        figures=("estimates",),
        made_of="scores",
        name="report",
    ),
    Kind(
        commands=("check",),
        question="Can these scores be audited?",
        type="CheckReport",
        tables=("columns",),
        made_of="scores",
    ),
    Kind(
        commands=("bounds",),
        question="How well can anybody tell whose records were used, if the promise holds?",
        type="BoundsReport",
        # Of these, one answer has few.
        tables=(
            *("attacker", "other_readings", "bounds", "tuned", "needed"),
            *("refuted", "refuted.limits", "counting_queries"),
        ),
        figures=("attacker", "other_readings", "needed", "refuted.limits"),
        at_most=("advantage", "eta", "accuracy", "tpr_at_fpr", "success_at", "precision"),
        exact=(
            *("epsilon", "mu", "gaussian_sd", "laplace_scale"),
            *("epsilon_lower", "epsilon_upper"),
        ),
        made_of="nothing",
    ),
    Kind(
        commands=("epsilon",),
        question="Does the mechanism keep its promise of differential privacy?",
        type="EpsilonReport",
        tables=("statements",),
        figures=("statements",),
        made_of="scores",
    ),
    Kind(
        commands=("compare",),
        question="Which query reveals more about whose records were in the training data?",
        type="CompareReport",
        tables=("advantages", "differences", "best_of", "together", "gains"),
        figures=("advantages", "differences", "best_of", "together", "gains"),
        of=("gains", "gain"),
        made_of="scores",
        folder="compare.queries",
    ),
    Kind(
        commands=("compare reports",),
        question="Does the new release reveal more about whose records were used than the old?",
        type="ReportComparison",
        tables=("changes", "figures", "beside_any", "policy"),
        figures=("changes",),
        of=("changes", "change of {}"),
        made_of="reports",
        name="compare-reports",
        folder="compare.reports",
    ),
    Kind(
        commands=("attack",),
        question="How well do known attacks tell whose records were in the training data?",
        type="AttackReport",
        tables=("attacks", "details", "groups", "optimum", "together", "gaps"),
        figures=("optimum", "attacks", "groups", "together", "gaps"),
        made_of="scores",
    ),
    Kind(
        commands=("attribute",),
        question="How well can somebody guess a hidden attribute of people in the training data?",
        type="AttributeReport",
        tables=("figures", "by_value", "shares"),
        figures=("figures", "by_value"),
        made_of="scores",
    ),
    Kind(
        commands=("query losses", "query lira"),
        question="What does the model say about records that it was and was not trained on?",
        type="ModelQueryReport",
        tables=("scores",),
        name="model-query",
        folder="query.model",
    ),
    Kind(
        commands=("noise",),
        question="How much noise hides whose records were used?",
        type="NoiseReport",
        tables=("calibrations", "measured.candidates"),
        figures=("calibrations",),
        exact=("multiplier", "scale", "expected_norm"),
        made_of="nothing",
    ),
    Kind(
        commands=("query",),
        question="How close are the released records to those that they were made from?",
        type="QueryReport",
        tables=("scores", "copies", "columns", "tables"),
        figures=("copies",),
        exact=("copied", "rows"),
        made_of="tables",
    ),
    Kind(
        commands=("records",),
        question="Which records are most exposed as having been in the training data?",
        type="RecordsReport",
        tables=("cells",),
        figures=("estimates", "groups"),
        made_of="scores",
    ),
    Kind(
        commands=("shift",),
        question="Can the two groups of records be told apart without the release?",
        type="ShiftReport",
        tables=("estimates", "columns", "copies"),
        figures=("estimates",),
        made_of="scores",
    ),
    Kind(
        commands=("simulate",),
        question="What is true of scores that were drawn from a known distribution?",
        type="mipaudit.validation.truth:TruthReport",
        tables=("truths",),
        figures=("truths",),
        exact=("value",),
        name="truth",
    ),
    Kind(
        commands=("simulate --list",),
        question="Which distributions can scores be drawn from?",
        type="mipaudit.validation.truth:ScenarioList",
        tables=("scenarios",),
        name="scenarios",
        folder="simulate",
        shows="SCENARIOS",
    ),
    Kind(
        commands=("validate",),
        question="Are the limits that mipaudit prints as often right as they promise?",
        type="mipaudit.validation.report:ValidationReport",
        tables=("rows",),
        name="validation",
    ),
    Kind(
        commands=("history",),
        question="How did the leak about whose records were used change over time?",
        type="HistoryReport",
        tables=("reports", "advantages", "steps"),
    ),
    Kind(
        commands=("verify",),
        question="Does the report follow from its scores and settings?",
        type="VerifyReport",
        tables=("parts",),
        name="verification",
    ),
    Kind(
        commands=("doctor",),
        question="Does this installation of mipaudit work?",
        type="DoctorReport",
        tables=("libraries", "known_audit"),
    ),
)


def kind_of(command: str) -> Kind:
    """Return the kind of report that a command writes, by the report's field ``command``."""
    return next(kind for kind in KINDS if command in kind.commands)


def kind_of_schema(schema: str) -> Kind | None:
    """Return the kind of report of a JSON format, None for one that is not read."""
    return next((kind for kind in KINDS if kind.schema == schema), None)


def report_type(kind: Kind) -> type[Any]:
    """Return the type of the reports of a kind, with all that its annotations name."""
    found: type[Any] = named(kind.report)
    complete = getattr(import_module(found.__module__), "complete", None)
    if complete is not None:
        complete()
    return found


def named(place: str) -> Any:  # noqa: ANN401 - a type or a function
    """Return what is called ``module:name``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
