"""What was read, as terms and texts: files, rows, membership, score columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.design import Design
    from mipaudit.statements.provenance.origin import Provenance

_FEW_NAMES: Final = 12


def taken(design: Design, provenance: Provenance) -> list[tuple[str, str]]:
    """Return what was read: files, rows, membership, score columns, those skipped."""
    members, holdout = count_text(design.n_members), count_text(design.n_holdout)
    taken = [
        ("input", _inputs(provenance)),
        ("rows", f"{members} members, {holdout} holdout records"),
        ("membership", _membership(design)),
        ("scores", _names(design.score_columns)),
    ]
    if unused := (*design.skipped_columns, *provenance.unused_columns):
        taken.append(("not used", _names(unused)))
    return taken


def _membership(design: Design) -> str:
    if design.member_column is None:
        return "members and holdout were given apart"
    return f"column {safe_name(design.member_column)}"


def _inputs(provenance: Provenance) -> str:
    inputs = provenance.inputs
    if len(inputs) > 2:  # noqa: PLR2004 - members and holdout are named
        rows = sum(item.rows for item in inputs)
        return f"{count_text(len(inputs))} files, {count_text(rows)} rows"
    return "; ".join(f"{safe_name(item.name)} ({count_text(item.rows)} rows)" for item in inputs)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(safe_name(name) for name in names[:_FEW_NAMES])
    more = len(names) - _FEW_NAMES
    return f"{shown} and {count_text(more)} more" if more > 0 else shown
