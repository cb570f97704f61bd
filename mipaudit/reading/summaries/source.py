"""Summary files as an input: what an audit asks of its source, without rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.source.audited import ScoreColumn, VectorScore
from mipaudit.reading.summaries.arrays import MOST_ROWS, counts_of
from mipaudit.reading.summaries.file import Manifest, SummaryFile, bad_summary
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import count_text
from mipaudit.summaries.identity.seed import Content
from mipaudit.summaries.tally import Summary, sum_of

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob

_SHOWN: Final = 3
# What all files must say alike, and what to do where they do not.
_ALIKE: Final = (
    ("scores", "hold different scores", "Name them alike everywhere, with `score_columns`."),
    ("prior", "were cut for different priors", "Give every site the same `prior`."),
    ("keyed", "tell rows apart in different ways", "Give `key_column` everywhere, or nowhere."),
    (
        "plan",
        "are counted by different cells",
        "Make cuts first (`cuts_only`), and give all of them to every run with `cuts`.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySource:
    """Counted scores.

    Attributes:
        columns: the scores.
        member_column: where membership was read.
        skipped: (column, why) for columns that were not taken.
        notes: what the reader must know about how the counts came about.
    """

    columns: tuple[ScoreColumn, ...]
    member_column: str | None
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[Finding, ...]

    @property
    def scalars(self) -> tuple[int, ...]:
        """Every score is one number."""
        return tuple(range(len(self.columns)))

    @property
    def vectors(self) -> tuple[VectorScore, ...]:
        """No score is of several numbers."""
        return ()

    @property
    def passed_over(self) -> tuple[str, ...]:
        """The columns that might have been scores and were not taken."""
        return tuple(name for name, _ in self.skipped)

    @property
    def left_out(self) -> tuple[Blob, ...]:
        """Every file was read."""
        return ()

    @property
    def copies(self) -> None:
        """Nothing: counts of scores do not tell."""
        return

    @property
    def told(self) -> tuple[Finding, ...]:
        """Nothing: what each file says is among the notes."""
        return ()

    def findings(self) -> tuple[Finding, ...]:
        """Return what the reader must know."""
        return self.notes

    def sentinels(self, name: str) -> dict[int, int]:
        """Return nothing: the counts of sites hold no values."""
        del name
        return {}

    def infinite(self, names: Sequence[str]) -> int | None:
        """Return None: the counts tell."""
        del names
        return None


def add_up(files: Sequence[SummaryFile]) -> tuple[SummarySource, Summary]:
    """Return the counts of all files together.

    Args:
        files: at least one, each of counts.

    Raises:
        InputError: ``bad_summary``, ``cuts_not_counts``, ``summaries_differ``,
            ``overlapping_rows`` or ``same_rows``.
    """
    for file in files:
        if file.manifest.content != "counts":
            raise InputError(
                "cuts_not_counts",
                f"{file.name}: holds cuts, by which to count, and no counts.",
                hint="Count with it: mipaudit summarize SCORES --cuts FILE -o part.summary.",
            )
    check_apart(files)
    check_alike(files)
    first = files[0].manifest
    source = SummarySource(
        columns=tuple(ScoreColumn(name=one.name, kind=one.kind) for one in first.scores),
        member_column=first.member_column,
        skipped=tuple((name, "not taken") for name in first.skipped_columns),
        notes=(_origin(files), *_gathered(files)),
    )
    parts = [counts_of(one) for one in files]
    _check_counted_alike(files, parts)
    return source, sum_of(parts)


def counts_content(files: Sequence[SummaryFile], total: Summary) -> Content:
    """Return what the coins of an audit of summaries depend on: all sites' seeds, all counts.

    The rows' own coins are the sites'. These are for what is drawn from counts alone.

    Args:
        files: at least one, which belong together.
        total: their sum, whatever parts it came in.
    """
    digest = blake2b(str(files[0].manifest.plan).encode(), digest_size=32)
    for column in total.columns:
        late, every = column.evaluated, column.everyone
        for counts in (column.blocks, late.members, late.holdout, every.members, every.holdout):
            digest.update(np.ascontiguousarray(counts, dtype="<i8").tobytes())
    return Content(
        kind="counts",
        n_members=total.n_members,
        n_holdout=total.n_holdout,
        digest=digest.digest(),
    )


def check_alike(files: Sequence[SummaryFile]) -> None:
    """Refuse files that cannot be of one input.

    Raises:
        InputError: ``summaries_differ``.
    """
    first = files[0]
    for other in files[1:]:
        for field, what, hint in _ALIKE:
            if _said(first.manifest, field) != _said(other.manifest, field):
                raise InputError(
                    "summaries_differ", f"{first.name} and {other.name} {what}.", hint=hint
                )


def _said(manifest: Manifest, field: str) -> object:
    if field == "scores":
        return [(one.name, one.kind) for one in manifest.scores]
    return getattr(manifest, field)


def check_apart(files: Sequence[SummaryFile]) -> None:
    """Refuse files of which two hold the same rows, as far as anybody can tell.

    Raises:
        InputError: ``overlapping_rows`` or ``same_rows``.
    """
    seen: dict[object, SummaryFile] = {}
    for file in files:
        contents = {one.sha256 or one.fingerprint for one in file.manifest.inputs}
        for content in (contents | {file.sha256}) - {None}:
            if seen.setdefault(content, file) is not file:
                raise InputError(
                    "same_rows",
                    f"{seen[content].name} and {file.name} hold the same rows.",
                    hint="Give every part once.",
                )
    extents = sorted(
        (one.first_row, one.first_row + one.rows, file.name)
        for file in files
        for one in file.manifest.extents
    )
    for (_, end, name), (start, _, other) in pairwise(extents):
        if start < end:
            raise InputError(
                "overlapping_rows",
                f"{name} and {other} hold rows of the same positions.",
                hint="Say where each part begins with `first_row`, or give `key_column`.",
            )


def _check_counted_alike(files: Sequence[SummaryFile], parts: Sequence[Summary]) -> None:
    """Refuse counts that say they are by one plan and are not, and more rows than there are.

    Raises:
        InputError: ``bad_summary`` or ``too_many_rows``.
    """
    for file, part in zip(files, parts, strict=True):
        if file.manifest.burn_in != files[0].manifest.burn_in:
            raise bad_summary(file.name)
        for own, first in zip(part.columns, parts[0].columns, strict=True):
            if (
                own.discrete != first.discrete
                or not np.array_equal(own.single, first.single)
                or not np.array_equal(own.everyone.single, first.everyone.single)
            ):
                raise bad_summary(file.name)
    if sum(one.n_members + one.n_holdout for one in parts) > MOST_ROWS:
        raise InputError(
            "too_many_rows",
            f"The summaries are of more than {count_text(MOST_ROWS)} rows together.",
            hint="Audit fewer of them at a time.",
        )


def _origin(files: Sequence[SummaryFile]) -> Finding:
    count = "1 summary file" if len(files) == 1 else f"{count_text(len(files))} summary files"
    keyed = files[0].manifest.keyed
    apart = "their rows' positions do not overlap"
    if keyed:
        apart = "that no record is in two of them is taken on trust"
    trust = f"; {apart}" if len(files) > 1 else ""
    return Finding(
        code="from_summaries",
        text=f"Counted elsewhere: {count}, whose rows were not seen here{trust}.",
    )


def _gathered(files: Sequence[SummaryFile]) -> list[Finding]:
    """Return what each file says of its rows, once for each thing that is said."""
    said: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for one in file.manifest.findings:
            said.setdefault((one.code, one.text), []).append(file.name)
    return [
        Finding(code=code, text=f"{_names(names)}: {text}" if len(files) > 1 else text)
        for (code, text), names in said.items()
    ]


def _names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
