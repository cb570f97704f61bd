"""What ``mipaudit compare`` may be asked, and what its inputs are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from mipaudit.errors import UsageError
from mipaudit.maths.advantage import baseline
from mipaudit.options.declare import Options, choice, declared, free, is_left_out, reads
from mipaudit.options.game import KEY_COLUMN_OPTION, Game
from mipaudit.options.scores import (
    AGAINST_OPTION,
    Classes,
    Columns,
    Data,
    Discreteness,
    Seeded,
    Work,
)
from mipaudit.options.values import path_of, require
from mipaudit.statements.choices import Against

_SUFFIXES: Final = frozenset({".csv", ".gz", ".zst", ".parquet", ".pq", ".tsv", ".txt", ".json"})
# The options of a comparison of reports, and what applies to any input.
OF_REPORTS: Final = frozenset({"baseline", "max_increase", "against"})
_OF_ALL: Final = OF_REPORTS | {"hash_inputs"}
_AGAINST_SCORES: Final = ("any", "thresholds", "intervals-1", "intervals-4", "bins-16")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInput:
    """An input and the name that the user or its path gives it; '' for data in memory."""

    name: str
    data: Any


def named_input(given: object, position: int) -> NamedInput:
    """Return an input with its name: ``name=path``, or the path's stem.

    Args:
        given: a path, ``name=path``, or data in memory.
        position: its place, from 1, which names data in memory.
    """
    data = path_of(given)
    if not isinstance(data, str):
        return NamedInput(name=f"input {position}", data=data)
    name, mark, path = data.partition("=")
    # A path may hold the sign itself: what exists is a path.
    if not (mark and name and path) or "/" in name or Path(data).exists():
        name, path = "", data
    return NamedInput(name=name or _stem(path), data=path)


def is_report(data: object) -> bool:
    """Return whether an input is a report: a ``.json`` file, or what a command returned."""
    if isinstance(data, str):
        return data.lower().endswith((".json", ".json.gz"))
    return isinstance(getattr(data, "schema", None), str) and hasattr(data, "provenance")


def _stem(path: str) -> str:
    if path == "-":
        return "standard input"
    found = Path(path)
    while found.suffix.lower() in _SUFFIXES:
        found = found.with_suffix("")
    return found.name or path


def query_names(inputs: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """Return the name of every query: its input's, its column's, or both.

    Args:
        inputs: (name, score columns) of each.

    Raises:
        UsageError: two queries would have the same name, or there is only one.
    """
    if len(inputs) == 1:
        names = [list(inputs[0][1])]
    else:
        names = [
            [name] if len(columns) == 1 else [f"{name}:{column}" for column in columns]
            for name, columns in inputs
        ]
    flat = [name for some in names for name in some]
    if len(flat) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError(
            "one_query",
            "There is only one query: nothing to compare it with.",
            "Give several files, or a file with several score columns (`score_col`).",
        )
    if len(set(flat)) < len(flat):
        raise UsageError(
            "same_names", "Two queries have the same name.", "Name them: old=a.csv new=b.csv."
        )
    return names


class _Several(Options):
    scores: Sequence[Data] = reads(
        "Score files, folders, patterns, or - for standard input; or reports of estimate (.json). "
        "NAME=PATH names a file.",
        default=(),
        flag="SCORES...",
        in_python="Or data frames, Arrow tables, or reports that estimate returned.",
    )


class _Matching(Options):
    key_col: str | None = KEY_COLUMN_OPTION.but(
        "The column that identifies a record, to match the rows of several files."
    )


class _Compare(Options):
    independent: bool = choice("State that the files hold different records.", default=False)
    baseline: str | None = choice(
        "Compare every other score with this one, not all pairs. For reports: the old report."
    )
    max_increase: float | None = free(
        "Policy: a score may leak at most X more than the baseline, or than in the old report."
    )
    against: Against | None = AGAINST_OPTION.but(
        "The attackers that the ranking and the policy are about (mipaudit help against). Default: "
        "any, if every score has few different values; otherwise thresholds."
    )


class CompareOptions(
    _Several, Classes, Columns, _Matching, Game, Discreteness, _Compare, Seeded, Work
):
    """The queries, or reports on them, and a policy on how they differ."""

    @cached_property
    def named_scores(self) -> tuple[NamedInput, ...]:
        """The inputs with their names."""
        return tuple(named_input(one, place) for place, one in enumerate(self.scores, 1))

    @property
    def of_reports(self) -> bool:
        """Tell whether reports are compared."""
        return any(is_report(one.data) for one in self.named_scores)

    def inputs(self) -> tuple[Any, ...]:
        """Return what is read, also without the names before it."""
        named = [one.partition("=")[2] for one in self.scores if isinstance(one, str)]
        return (*super().inputs(), *filter(None, named))

    def check(self) -> None:
        """Refuse what does not go together, of scores and of reports."""
        super().check()
        if self.of_reports:
            self._check_reports()
        else:
            self._check_scores()

    def _check_reports(self) -> None:
        pair = self.members is not None or self.holdout is not None
        require(
            not pair and all(is_report(one.data) for one in self.named_scores),
            "mixed_inputs",
            "Some inputs are reports (.json) and others are scores.",
            "Compare reports with reports, and score files with score files.",
        )
        # A policy file and the environment are for all commands together.
        for_all = {one.name for one in self.settings or () if one.source in {"file", "environment"}}
        for one in declared(CompareOptions):
            of_scores = one.option.recorded and one.name not in {*_OF_ALL, *for_all}
            require(
                not of_scores or is_left_out(one, getattr(self, one.name)),
                one.name,
                f"The setting `{one.name}` does not apply to reports, which have their own.",
                "Leave it out: it is set when a report is made.",
            )

    def _check_scores(self) -> None:
        if self.max_increase is not None:
            check_increase(self.max_increase, self.prior)
            require(
                self.baseline is not None,
                "max_increase",
                "A limit on the increase needs a query to compare the others with.",
                "Add `baseline` NAME.",
            )
        require(
            self.against in {None, *_AGAINST_SCORES},
            "against",
            f"`against` must be one of: {', '.join(_AGAINST_SCORES)}.",
        )
        pair = self.members is not None or self.holdout is not None
        streams = sum(isinstance(one.data, str) and one.data == "-" for one in self.named_scores)
        require(streams <= 1, "two_stdin", "Only one of the inputs can be standard input.")
        require(
            not (self.scores and pair),
            "two_inputs",
            "Scores are given twice: SCORES, and `members` or `holdout`.",
            "Give SCORES alone, or `members` FILE `holdout` FILE with several score columns.",
        )
        require(
            bool(self.scores) or (self.members is not None and self.holdout is not None),
            "no_input",
            "No scores are given.",
            "Give several score files, or one with several score columns.",
        )

    HELP = """Show which of several scores leaks most, and by how much.

The advantage of a score says how well an attacker who sees it guesses who is a member: 0 is a coin
toss, 1 is always right. The report puts the scores in order of their advantage. It says which
ranks are certain, how much the advantages differ, and what two scores reveal together. By
default, the limits of all differences are right at once with 95% confidence.

Instead of scores, you can give JSON reports of mipaudit estimate. The command then says what has
surely changed since the first report.

\b
Examples:
  mipaudit compare scores.parquet
      Compares all score columns of the file. --score-col NAME chooses some.
  mipaudit compare old=v1.parquet new=v2.parquet --key-col record_id
      Two files of the same records, named old and new. Column record_id matches their rows.
  mipaudit compare a.csv b.csv --independent
      Two files of different records.
  mipaudit compare old=v1.parquet new=v2.parquet --baseline old --max-increase 0.02
      A policy: exit code 0 if the new file leaks at most 0.02 more than the old, 1 if it leaks
      more, 3 if inconclusive.
  mipaudit compare old.json new.json --max-increase 0.05
      Two reports of estimate: exit code 0 if every score leaks at most 0.05 more in the new
      report, 1 if one leaks more, 3 if inconclusive. Comparing score files is more precise.
"""


def check_increase(limit: float, prior: float) -> None:
    """Refuse a limit on the increase that nobody can exceed, or keep.

    Raises:
        UsageError: ``max_increase``.
    """
    room = 1 - baseline(prior)
    require(
        0 <= limit <= room,
        "max_increase",
        f"The limit on the increase must be at least 0 and at most {room:g} at this prior.",
    )
