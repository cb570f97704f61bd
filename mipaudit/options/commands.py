"""The commands, each once: what it may be asked, and what answers; what other tools call them.

Whatever handles all commands reads this table. Types and functions are named, not imported:
only the command that runs is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection


class Command(NamedTuple):
    """A command.

    Attributes:
        name: as it is typed.
        summary: what the list of commands says, in a line of 80 columns with the name.
        group: under which heading it is listed.
        asked: the class of its options, as ``module:name``.
        shown: the class of the options of how the answer is shown, likewise.
        answer: what makes its report of the options.
        write: what writes that as ``shown`` says: from both kinds of options and ``answer``
            to the exit code.
        run: what does all of that itself, of a command that writes more than a report, or
            another thing: from both kinds of options to the exit code.
        configured: whether a policy file and the environment may set its options: not where
            there is nothing to set, so that it works where a policy file is broken.
        suffices: whether it does something without arguments.
    """

    name: str
    summary: str
    group: str
    asked: str
    shown: str
    answer: str | None = None
    write: str = "mipaudit.output.presentation:write_report"
    run: str | None = None
    configured: bool = True
    suffices: bool = False


_AUDIT: Final = "Audit"
_SCORES: Final = "Make scores"
_PLAN: Final = "Plan a release"
_TRUST: Final = "Trust a report"
_TOOL: Final = "Check the tool"
_SHOWN: Final = "mipaudit.options.shown"


def _answers(name: str, summary: str, group: str, **otherwise: str | bool) -> Command:
    """Return a command that writes a report, whose parts stand in its folder by their usual names.

    Args:
        name: also of the folder, where its options and the function that answers are.
        summary: in a line.
        group: the heading.
        otherwise: fields of `Command` that are others; a report is judged unless they say so.
    """
    place = f"mipaudit.commands.{name}"
    usual: Any = {
        "asked": f"{place}.options:{name.capitalize()}Options",
        "answer": f"{place}.run:answer_{name}",
        "shown": f"{_SHOWN}:Judged",
    }
    return Command(name, summary, group, **{**usual, **otherwise})


def _runs(name: str, summary: str, group: str, **otherwise: str | bool) -> Command:
    """Return a command that does all itself, and has its own options of how that is shown."""
    place = f"mipaudit.commands.{name}"
    usual: Any = {
        "answer": None,
        "run": f"{place}.run:run_{name}",
        "shown": f"{place}.options:{name.capitalize()}Shown",
    }
    return _answers(name, summary, group, **{**usual, **otherwise})


def _scores(name: str, summary: str) -> Command:
    """Return a command that makes scores of what a model says: ``query losses``."""
    place, name_there = "mipaudit.commands.query.model", name.partition(" ")[2]
    return Command(
        name,
        summary,
        _SCORES,
        asked=f"{place}.options:{name_there.capitalize()}Options",
        answer=f"{place}.{name_there}:answer_query_{name_there}",
        write="mipaudit.output.presentation:write_scores",
        shown=f"{_SHOWN}:ScoresShown",
    )


_UNJUDGED: Final = f"{_SHOWN}:Shown"
# What several commands have that others have not, as keywords.
_FIXED: Any = {"configured": False}
_ALONE: Any = {**_FIXED, "suffices": True}
_PLAIN: Any = {**_FIXED, "shown": _UNJUDGED}
# In the order in which they are listed.
TABLE: Final = (
    _answers("estimate", "Measure how well scores reveal who was in the training data.", _AUDIT),
    _runs("records", "Show how exposed each record and each group is.", _AUDIT),
    _runs("epsilon", "Find promises of differential privacy that the data refute.", _AUDIT),
    _answers("compare", "Show which of several scores leaks most, and by how much.", _AUDIT),
    _answers("attack", "Show what published attacks achieve on a score.", _AUDIT),
    _answers("attribute", "Test if a hidden attribute is guessed better for members.", _AUDIT),
    _answers("check", "Check a score file before an audit.", _AUDIT, shown=_UNJUDGED),
    _answers("shift", "Test if members and holdout differ even without the release.", _AUDIT),
    _runs("query", "Make scores from tables: members, holdout, synthetic records.", _SCORES),
    _scores("query losses", "Make scores from a model's outputs, such as probabilities."),
    _scores("query lira", "Make the likelihood-ratio score (LiRA) from shadow models."),
    _runs("summarize", "Turn scores into counts, to audit several places together.", _SCORES),
    _runs("simulate", "Make an invented score file whose true leak is known.", _SCORES),
    _runs("init", "Write a first policy file: limits, and their reasons.", _PLAN, **_ALONE),
    _runs("bounds", "Say what a guarantee allows, or which guarantee you need.", _PLAN),
    _runs("noise", "Find how much noise hides who was in the data.", _PLAN),
    _runs(
        "render",
        "Write a report in another form, or judge it by other limits.",
        _TRUST,
        asked="mipaudit.commands.render.options:RejudgeOptions",
        **_FIXED,
    ),
    _answers("history", "Show the reports of several releases in order of time.", _TRUST, **_PLAIN),
    _answers(
        "verify",
        "Compute a report again from its scores, and compare.",
        _TRUST,
        shown="mipaudit.commands.verify.options:VerifyShown",
        configured=False,
    ),
    _runs("schema", "Print the JSON Schema of the reports.", _TRUST, **_ALONE),
    _runs(
        "validate",
        "Check on your own machine how often confidence limits hold.",
        _TOOL,
        shown=_UNJUDGED,
        suffices=True,
    ),
    _runs(
        "doctor",
        "Check whether this installation works, and what it lacks.",
        _TOOL,
        **_ALONE,
        shown=_UNJUDGED,
    ),
    _runs(
        "help",
        "Explain a word, an option, an exit code, a finding or a topic.",
        _TOOL,
        asked="mipaudit.cli.help:HelpOptions",
        run="mipaudit.cli.help:run_help",
        shown="mipaudit.options.declare:Options",
        **_ALONE,
    ),
)
BY_NAME: Final = {one.name: one for one in TABLE}
# Those that may have a table in a policy file.
CONFIGURED: Final = tuple(one.name for one in TABLE if one.configured)


# How much alike two names are of which one is taken for the other: of keys, and of options, which
# are more alike among themselves.
_ALIKE: Final = 0.6
CLOSE: Final = 0.75
_LEAST_PREFIX: Final = 3
# A command, a query of tables, or an option by its keyword, and what other tools call it. None of
# these names is accepted: an error about one says what is meant, for commands, queries, options,
# keys of policy files, variables and Python's keywords alike.
_ELSEWHERE: Final = {
    "estimate": "audit mia run evaluate",
    "records": "risk",
    "compare": "diff",
    "check": "inspect info",
    "shift": "drift",
    "query": "synthetic",
    "query nn": "dcr",
    "query lnr": "nndr",
    "query share:1e-6": "ims",
    "query losses": "logits",
    "simulate": "generate demo",
    "init": "policy config",
    "bounds": "dp",
    "noise": "calibrate",
    "render": "report show export",
    "history": "log",
    "output": "out outfile save",
    "quiet": "silent",
    "format": "output_format",
    "exit_zero": "no_fail",
    "verbose": "debug",
    "full": "all details",
    "members": "train",
    "holdout": "test non_members control",
    "score_col": "scores column loss",
    "member_col": "label labels membership target",
    "member_value": "pos_label",
    "where": "filter",
    "unit_col": "id_col user_col patient_col",
    "key_col": "id index",
    "by": "group group_by",
    "seed": "random_state",
    "jobs": "n_jobs workers threads",
    "prior": "prevalence base_rate",
    "confidence": "alpha significance",
    "max_advantage": "threshold limit",
    "max_eta": "eta",
    "max_tpr_at_fpr": "tpr_at_fpr",
    "against": "attacker",
    "claimed_epsilon": "epsilon eps",
    "mu": "gdp",
    "rho": "zcdp",
    "noise_sd": "sigma",
    "dp_sgd": "noise_multiplier",
}
# What is meant, by the name for it: at most 80.
MEANT: Final = {name: meant for meant, names in _ELSEWHERE.items() for name in names.split()}


def near(name: str, known: Collection[str], alike: float = _ALIKE) -> str | None:
    """Return the name that another nearly is, or the only one that it begins; None for neither."""
    from difflib import get_close_matches

    begun = {one for one in known if one.startswith(name)}
    if len(begun) == 1 and len(name.lstrip("-")) >= _LEAST_PREFIX:
        return begun.pop()
    found = get_close_matches(name, known, n=1, cutoff=alike)
    return found[0] if found else None


def meant_key(key: str, known: Collection[str], alike: float = _ALIKE) -> str | None:
    """Return the key, or the keyword, that is meant by another; None where nothing is near."""
    meant = MEANT.get(key)
    return meant if meant in known else near(key, known, alike)
