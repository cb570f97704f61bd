"""Columns that are what a model said of the classes, and are no scores one by one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.data.columns import class_outputs as said
from mipaudit.data.columns.column import column_scores
from mipaudit.data.columns.column_cache import CHUNK_ROWS
from mipaudit.data.columns.membership import CANDIDATES
from mipaudit.data.columns.names import is_candidate, name_words, shown_column, shown_names
from mipaudit.errors import InputError
from mipaudit.model.message import Finding, Message

if TYPE_CHECKING:
    from mipaudit.data.columns.choice import Choice
    from mipaudit.data.columns.column import Field
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource, Sides

_FEWEST_ROWS: Final = 20
# Of more rows, or of files far away, a few row groups are looked at.
_LOOKED_AT: Final = 1 << 22
_GROUPS: Final = 8
_MOST_NUMBERS: Final = 1 << 22
# Words of a column that may be what an attack says.
_OF_MEMBERS: Final = frozenset({"in", "member", "members", "membership", "train"})


class ModelOutputs:
    """Looks whether the scores that were taken are a model's outputs.

    Attributes:
        names: the columns to look at: floats that are scores, and what tells of those that the
            user named. Of one score that is the true class, of several all that may be outputs
            with them.
    """

    def __init__(
        self, sides: Sides, fields: Sequence[Field], choice: Choice, request: ReadRequest
    ) -> None:
        """Choose the columns to look at by their names and kinds.

        Args:
            sides: the parts of the input by the class that they were given for.
            fields: all columns.
            choice: which of them were taken, and what for.
            request: how to understand them.
        """
        self._sides, self._fields, self._request = sides, fields, request
        self._label = _true_class(fields, {request.member_column, *choice.members})
        scores = set(choice.names)
        roles = choice.hashed.union(request.group_columns, {request.member_column})
        roles |= {request.key_column, request.unit_column}
        free = [
            one.name
            for one in fields
            if one.kind == "float" and one.name not in roles and not is_candidate(one.name)
        ]
        self._taken = self.names = [name for name in free if name in scores]
        self._named = bool(request.score_columns) and not request.arrays
        if self._named:
            plain = [name for name in self._taken if not said.is_called_score(name)]
            if len(self._taken) > 1:
                self.names = free if len(plain) > 1 else []
            else:
                self.names = [*plain, self._label] if plain and self._label else []

    def findings(self, source: ScoreSource) -> tuple[Finding, ...]:
        """Return what is to be said of columns that are a model's outputs.

        Args:
            source: the opened input.

        Raises:
            InputError: ``class_probabilities``: nobody named the columns, and they are no scores
                one by one.
        """
        names, taken = self.names, self._taken
        if not names or source.rows_hint < _FEWEST_ROWS:
            return ()
        if len(taken) == 1 and len(names) > 1:
            columns = _sample(source, names)
            tells = said.is_output(columns[0]) and said.tells_class(*columns)
            return (self._lone(source, taken[0], "tells"),) if tells else ()
        models = self._models(source)
        if models and len(models[0]) == 1:
            return (self._lone(source, models[0][0], "share"),)
        if models and not self._named:
            raise self._refused(source, models)
        several = [one for one in models if len(set(taken).intersection(one)) > 1]
        if not several:
            return ()
        shown = shown_names([name for one in several for name in one], self._fields)
        return (self._finding(source, "class_probabilities", names=shown),)

    def _models(self, source: ScoreSource) -> list[list[str]]:
        """Return the outputs of each model; one column alone, beside a label, if nobody named it.

        Of an ordinary input no more than one chunk is read.
        """
        names = self.names
        lone = self._label is not None and not self._named
        # Without a label two may be what an attack says.
        least = 3 if self._label is None else 2
        found: list[tuple[int, ...]] = []
        for first in (True, False):
            if len(names) < (1 if lone else least):
                return []
            columns = _sample(source, names, first=first)
            if columns[0].size >= _FEWEST_ROWS:
                found = [one for one in said.class_columns(names, columns) if len(one) >= least]
                at = said.lone_column(names, columns) if lone and not found else None
                found = found if at is None else [(at,)]
            if not found and (columns[0].size >= _FEWEST_ROWS or not first):
                return []
        return [[names[at] for at in one] for one in found]

    def _lone(self, source: ScoreSource, name: str, case: str) -> Finding:
        column = shown_column(name, self._fields)
        return self._finding(source, "class_probability", case=case, column=column)

    def _finding(self, source: ScoreSource, code: str, **shown: str) -> Finding:
        """Return what some columns are, beside which label, and what makes scores of them."""
        beside = None
        if self._label is not None:
            label = shown_column(self._label, self._fields)
            beside = Message.of("beside_label", label=label)
        line, needs = self._way_out(source)
        return Finding.of(code, **shown, beside=beside, line=line, needs=needs)

    def _refused(self, source: ScoreSource, models: Sequence[Sequence[str]]) -> InputError:
        line, needs = self._way_out(source, models=len(models))
        names = [name for one in models for name in one]
        beside = ""
        if self._label is not None:
            beside = f", beside the label {shown_column(self._label, self._fields)}"
        others = [n for n in self._taken if n not in names and said.is_called_score(n)]
        others += [name for name in names if not _OF_MEMBERS.isdisjoint(name_words(name))]
        name = [*others, names[-1]][0]
        shown = shlex.quote(name) if name in shown_column(name, self._fields) else "NAME"
        last = f"Scores of an attack? Name one: `score_col` {shown}"
        hint = ["Make scores of them:", f"  {line}", *filter(None, [needs]), last]
        return InputError(
            "class_probabilities",
            f"The columns {shown_names(names, self._fields)} are from 0 to 1 and add up to 1"
            f"{beside}: what a model says of each class. One by one they are weak scores, and a "
            "low limit on them says little.",
            hint="\n".join(hint),
        )

    def _way_out(self, source: ScoreSource, *, models: int = 1) -> tuple[str, str]:
        """Return what makes scores of the outputs, and what it needs besides, in words."""
        request, sides = self._request, [parts for _, parts in self._sides]
        in_memory, unlabelled = sides[0][0].blob is None, self._label is None
        names = [some[0].name if len(some) == 1 else "FILE" for some in sides]
        same = any(PurePath(name).name == "losses.csv" for name in names)
        if in_memory:
            names = ["frame"] if len(sides) == 1 else ["members", "holdout"]
        words = {}
        for prefix, name in zip(("", "holdout_"), names, strict=False):
            words[f"{prefix}probabilities"] = "-" if name == "standard input" else name
            words |= {f"{prefix}labels": f"{prefix}labels"} if unlabelled else {}
        if in_memory:
            line = f"mipaudit.query_losses({', '.join(f'{k}={v}' for k, v in words.items())})"
        else:
            typed = (f"--{k.replace('_', '-')} {shlex.quote(v)}" for k, v in words.items())
            line = f"mipaudit query losses {' '.join(typed)} -o {'model_' * same}losses.csv"
        told = request.member_value is None and source.member_column in CANDIDATES
        narrowed = (request.where, request.unit_column, request.key_column)
        needs = {
            "one FILE of all rows": max(map(len, sides)) > 1,
            "one model's outputs at a time": models > 1,
            "the true classes: a file, or a column 'label'": unlabelled,
            "a column 'member' of 1 and 0": len(sides) == 1 and not told,
            "a file of the rows that count (it knows no `where`, `unit_col`, `key_col` or `nan`)": (
                any(narrowed) or request.nan != "error"
            ),
        }
        wanted = ", ".join(what for what, needed in needs.items() if needed)
        return line, f"It needs {wanted}." if wanted else ""


def _true_class(fields: Sequence[Field], roles: set[str | None]) -> str | None:
    """Return the column of the true class; None where none is called so."""
    named = {one.name.strip().casefold(): one for one in reversed(fields)}
    found = (named[name] for name in said.LABELS if name in named)
    return next((one.name for one in found if one.name not in roles and one.kind != "other"), None)


def _sample(source: ScoreSource, names: Sequence[str], *, first: bool = False) -> list[said.Floats]:
    """Return columns of rows at even distances, NaN where a number is missing.

    These are all rows of up to 131,072, where there are few columns.

    Args:
        source: the opened input.
        names: of the columns, each of shape (n,) in the answer.
        first: look at one chunk alone.
    """
    parts, total = list(source.every_row()), source.rows_hint
    few = first or source.remote or total > _LOOKED_AT
    if few:
        parts = parts[:: -(-len(parts) // (1 if first or source.remote else _GROUPS))]
        total = min(total, len(parts) * CHUNK_ROWS)
    step = -(-total // max(_FEWEST_ROWS, min(CHUNK_ROWS, _MOST_NUMBERS // len(names))))
    found: list[list[said.Floats]] = [[np.empty(0)] for _ in names]
    for part in parts:
        for chunk, rows in part.looked_at(names, scores=False):
            kept = slice(None) if rows.kept is None else rows.kept
            for name, columns in zip(names, found, strict=True):
                columns.append(column_scores(chunk.columns[name])[kept][::step])
            if few:
                break
    return [np.concatenate(columns) for columns in found]
