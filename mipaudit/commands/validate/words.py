"""What a validation run found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.rounding import count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.validation.report import (
        ControlOutcome,
        CoverageRow,
        Detectable,
        ValidationDesign,
    )

_LAWS: Final = (
    "Coverage was measured on these laws, sizes and priors. On others it may differ, and no "
    "records that depend on each other were drawn."
)
_UNSEEN: Final = (
    "A smaller shortfall than the one named above may have gone unseen; more files find it."
)
_DEFINITIONS: Final = (
    "AUC and TPR are of the side of the score that a report would choose, the bins are those that "
    "the burn-in of each file cut, and the attack whose epsilon and mu are limited says 'member' "
    "where the score is above 0.5."
)
LIMITATIONS: Final = (_LAWS, _UNSEEN, _DEFINITIONS)


def validation_summary(
    design: ValidationDesign,
    failures: Sequence[CoverageRow],
    controls: Sequence[ControlOutcome],
    detectable: Sequence[Detectable],
) -> str:
    """Return one plain paragraph."""
    parts = [
        _drawn(design),
        _short(failures),
        *_found(detectable),
        _caught(controls),
    ]
    return " ".join(part for part in parts if part)


def _drawn(design: ValidationDesign) -> str:
    return (
        f"{_cells(design)} of {_files(design.replications)} {_was(design.cells)} drawn from laws "
        f"with known truth, and {_limits(design.tests)} that mipaudit prints "
        f"{_was(design.tests)} compared with it."
    )


def _cells(design: ValidationDesign) -> str:
    return "1 cell" if design.cells == 1 else f"{count_text(design.cells)} cells"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count_text(count)} files"


def _limits(count: int) -> str:
    return "1 limit" if count == 1 else f"{count_text(count)} limits"


def _short(failures: Sequence[CoverageRow]) -> str:
    ours = sum(row.source == "mipaudit" for row in failures)
    theirs = len(failures) - ours
    if not failures:
        return "None covers the truth less often than it promises."
    told = f"{_limits(ours)} cover{'s' if ours == 1 else ''} the truth less often than promised."
    if theirs:
        told += (
            f" So do {_limits(theirs)} by methods that are known to be valid: the truths, or the "
            "run, are wrong."
        )
    return told


def _found(detectable: Sequence[Detectable]) -> list[str]:
    first = next((one for one in detectable if one.coverage > 0), None)
    if first is None:
        return []
    fewest = min(
        (one for one in detectable if one.nominal == first.nominal),
        key=lambda one: one.replications,
    )
    told = (
        f"A limit that promises {percent_text(round(first.nominal, 6))} and covers "
        f"{percent_text(round(first.coverage, 3))} or less would have been found with a "
        f"probability of {percent_text(first.power)}."
    )
    if fewest.replications == first.replications:
        return [told]
    dear = (
        f"Dear limits were tried on fewer files, {count_text(fewest.replications)} or more of a "
        f"cell: of those, one that covers {percent_text(round(fewest.coverage, 3))} or less."
    )
    return [told, dear]


def _caught(controls: Sequence[ControlOutcome]) -> str:
    missed = [control.label for control in controls if not control.caught]
    if not missed:
        return f"All {len(controls)} methods that are known to be invalid were caught."
    return (
        f"{len(missed)} of {len(controls)} methods that are known to be invalid were not caught "
        f"({'; '.join(missed)}), so the run shows nothing."
    )
