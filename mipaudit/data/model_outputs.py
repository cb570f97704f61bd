"""Columns that are what a model said of the classes, and are no scores one by one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.model.message import Message
from mipaudit.reading.columns import class_outputs as said
from mipaudit.reading.columns.column import column_scores
from mipaudit.reading.columns.column_cache import CHUNK_ROWS
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.reading.columns.names import name_words
from mipaudit.reading.columns.score_selection import is_candidate, shown_column, shown_names
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from mipaudit.data.parts import Part
    from mipaudit.data.request import ReadRequest
    from mipaudit.data.source import ScoreSource
    from mipaudit.reading.columns.column import Field
    from mipaudit.reading.columns.layout import Layout

_FEWEST_ROWS: Final = 20
# Of more rows, or of files far away, a few row groups are looked at.
_LOOKED_AT: Final = 1 << 22
_GROUPS: Final = 8
_MOST_NUMBERS: Final = 1 << 22
# Words of a column that may be what an attack says.
_OF_MEMBERS: Final = frozenset({"in", "member", "members", "membership", "train"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutputs:
    """Looks whether the scores that were taken are a model's outputs.

    Attributes:
        groups: the parts of the input by the class that they were given for.
        fields: all columns.
        layout: which of them were taken, and what for.
        request: how to understand them.
    """

    groups: Sequence[tuple[bool | None, tuple[Part, ...]]]
    fields: tuple[Field, ...]
    layout: Layout
    request: ReadRequest

    @property
    def _label(self) -> Field | None:
        """The column of the true class; None where none is called so."""
        named = {one.name.strip().casefold(): one for one in reversed(self.fields)}
        roles = {self.request.member_column, *self.layout.candidates}
        found = (named[name] for name in said.LABELS if name in named)
        return next((one for one in found if one.name not in roles and one.kind != "other"), None)

    @property
    def _free(self) -> list[str]:
        """Columns of floats without a role."""
        request = self.request
        roles = {request.member_column, request.key_column, request.unit_column}
        roles |= self.layout.hashed.union(request.group_columns)
        floats = (one.name for one in self.fields if one.kind == "float")
        return [name for name in floats if name not in roles and not is_candidate(name)]

    @property
    def _taken(self) -> list[str]:
        """Those of them that are scores."""
        scores = {one.name for one in self.layout.selection.scores}
        return [name for name in self._free if name in scores]

    @property
    def _named(self) -> bool:
        """Whether the user chose the scores."""
        return bool(self.request.score_columns) and not self.request.arrays

    @property
    def _looked_at(self) -> list[str]:
        """The columns to look at: the scores, and what tells of those that the user named.

        Of one score that is the true class, of several all that may be outputs with them.
        """
        names, label = self._taken, self._label
        if not self._named:
            return names
        plain = [name for name in names if not said.is_called_score(name)]
        if len(names) > 1:
            return self._free if len(plain) > 1 else []
        return [*plain, label.name] if plain and label else []

    def with_others(self) -> Layout:
        """Return the layout with what is looked at beside the scores."""
        return replace(self.layout, needed=self.layout.needed.union(self._looked_at))

    def findings(self, source: ScoreSource) -> tuple[Finding, ...]:
        """Return what is to be said of columns that are a model's outputs.

        Args:
            source: the opened input.

        Raises:
            InputError: ``class_probabilities``: nobody named the columns, and they are no scores
                one by one.
        """
        names, taken = self._looked_at, self._taken
        if not names or (source.rows_hint or 0) < _FEWEST_ROWS:
            return ()
        if len(taken) == 1 and len(names) > 1:
            columns = self._sample(source, names)
            tells = said.is_output(columns[0]) and said.tells_class(*columns)
            return (self._lone(source, taken[0], "tells"),) * tells
        models = self._models(source, names)
        if models and len(models[0]) == 1:
            return (self._lone(source, models[0][0], "share"),)
        if models and not self._named:
            raise self._refused(source, models)
        models = [one for one in models if len(set(taken).intersection(one)) > 1]
        line, needs = self._way_out(source)
        return (
            Finding.of(
                "class_probabilities",
                names=shown_names([name for one in models for name in one], self.fields),
                beside=self._beside_label,
                line=line,
                needs=needs,
            ),
        ) * bool(models)

    def _models(self, source: ScoreSource, names: Sequence[str]) -> list[list[str]]:
        """Return the outputs of each model; one column alone, beside a label, if nobody named it.

        Of an ordinary input no more than one chunk is read.
        """
        lone = self._label is not None and not self._named
        # Without a label two may be what an attack says.
        least = 3 if self._label is None else 2
        found: list[tuple[int, ...]] = []
        for first in (True, False):
            if len(names) < (1 if lone else least):
                return []
            columns = self._sample(source, names, first=first)
            if columns[0].size >= _FEWEST_ROWS:
                found = [one for one in said.class_columns(names, columns) if len(one) >= least]
                at = said.lone_column(names, columns) if lone and not found else None
                found = found if at is None else [(at,)]
            if not found and (columns[0].size >= _FEWEST_ROWS or not first):
                return []
        return [[names[at] for at in one] for one in found]

    def _sample(
        self, source: ScoreSource, names: Sequence[str], *, first: bool = False
    ) -> list[said.Floats]:
        """Return columns of rows at even distances, NaN where a number is missing.

        These are all rows of up to 131,072, where there are few columns.

        Args:
            source: the opened input.
            names: of the columns, each of shape (n,) in the answer.
            first: look at one chunk alone.
        """
        parts, total = list(source.every_row()), source.rows_hint or 0
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

    @property
    def _beside(self) -> str:
        label = self._label
        return (
            "" if label is None else f", beside the label {shown_column(label.name, self.fields)}"
        )

    @property
    def _beside_label(self) -> Message | None:
        label = self._label
        if label is None:
            return None
        return Message.of("beside_label", label=shown_column(label.name, self.fields))

    def _told(self, models: Sequence[Sequence[str]]) -> str:
        names = [name for one in models for name in one]
        return (
            f"The columns {shown_names(names, self.fields)} are from 0 to 1 and add up to 1"
            f"{self._beside}: what a model says of each class. One by one they are weak scores, "
            "and a low limit on them says little."
        )

    def _lone(self, source: ScoreSource, name: str, case: str) -> Finding:
        line, needs = self._way_out(source)
        return Finding.of(
            "class_probability",
            case=case,
            column=shown_column(name, self.fields),
            beside=self._beside_label,
            line=line,
            needs=needs,
        )

    def _refused(self, source: ScoreSource, models: Sequence[Sequence[str]]) -> InputError:
        line, needs = self._way_out(source, models=len(models))
        names = [name for one in models for name in one]
        others = [n for n in self._taken if n not in names and said.is_called_score(n)]
        others += [name for name in names if not _OF_MEMBERS.isdisjoint(name_words(name))]
        name = [*others, names[-1]][0]
        shown = shlex.quote(name) if name in shown_column(name, self.fields) else "NAME"
        last = f"Scores of an attack? Name one: `score_col` {shown}"
        hint = ["Make scores of them:", f"  {line}", *filter(None, [needs]), last]
        return InputError("class_probabilities", self._told(models), hint="\n".join(hint))

    def _way_out(self, source: ScoreSource, *, models: int = 1) -> tuple[str, str]:
        """Return what makes scores of the outputs, and what it needs besides, in words."""
        request, sides = self.request, [parts for _, parts in self.groups]
        blob, unlabelled = sides[0][0].blob, self._label is None
        names = [some[0].name if len(some) == 1 else "FILE" for some in sides]
        same = any(PurePath(name).name == "losses.csv" for name in names)
        if blob is None:
            names = ["frame"] if len(sides) == 1 else ["members", "holdout"]
        words = {}
        for prefix, name in zip(("", "holdout_"), names, strict=False):
            words[f"{prefix}probabilities"] = "-" if name == "standard input" else name
            words |= {f"{prefix}labels": f"{prefix}labels"} if unlabelled else {}
        line = f"mipaudit.query_losses({', '.join(f'{k}={v}' for k, v in words.items())})"
        if blob is not None:
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
