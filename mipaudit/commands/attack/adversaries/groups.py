"""The per-class attack within each class of records, with limits that hold jointly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.attack.adversaries.guesses import class_plot
from mipaudit.commands.attack.adversaries.rows import SOURCES
from mipaudit.commands.attack.report import NamedAttack
from mipaudit.commands.attack.target import Target
from mipaudit.evidence.named_attackers.named_attack import achieved
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.attack.options import AttackOptions
    from mipaudit.commands.attack.target import Attacked

MOST_SHOWN: Final = 64
_OTHER: Final = "other"


def class_attacks(
    scores: Sequence[Attacked],
    names: Mapping[int, str],
    asked: AttackOptions,
    alpha: float,
) -> tuple[tuple[NamedAttack, ...], tuple[Finding, ...]]:
    """Return the advantage of the per-class attack in each class, and what was left out.

    Which classes are shown is decided by their sizes alone. Small ones are taken together.

    Args:
        scores: of the same rows, at least one.
        names: of each class, by its hash.
        asked: the settings.
        alpha: two-sided error of one score; it is shared over the classes.
    """
    found: list[NamedAttack] = []
    left_out: dict[Finding, None] = {}
    for whole in scores:
        one = whole.as_seen_by("per-class")
        member, judged = one.member, one.judged
        parts, findings = shown_classes(one.classes, member, judged, names, asked.min_cell)
        left_out.update(dict.fromkeys(findings))
        plot = class_plot(asked.prior)
        guess = plot.learn(*one.part(~judged))
        for name, rows in parts:
            target = Target(loss=one.loss[rows], classes=one.classes[rows])
            result = achieved(
                guess(target), member[rows], prior=asked.prior, alpha=alpha / len(parts)
            )
            if result is None:
                continue
            found.append(
                NamedAttack(
                    score=one.name,
                    adversary="per-class",
                    source=SOURCES["per-class"],
                    group=name,
                    value=result.advantage.value,
                    lower=result.advantage.lower,
                    upper=result.advantage.upper,
                    validity="approximate",
                    tpr=result.tpr,
                    fpr=result.fpr,
                    judged_on="rows outside the burn-in",
                    n_members=result.n_members,
                    n_holdout=result.n_holdout,
                    learned=plot.learned,
                )
            )
    return tuple(found), tuple(left_out)


def shown_classes(
    classes: NDArray[np.uint64],
    member: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    names: Mapping[int, str],
    least: int,
) -> tuple[list[tuple[str, NDArray[np.bool_]]], tuple[Finding, ...]]:
    """Return the classes that are shown, as masks of rows, and what became of the others."""
    sizes = {
        group: (
            int(np.count_nonzero(rows & member & (classes == group))),
            int(np.count_nonzero(rows & ~member & (classes == group))),
        )
        for group in np.unique(classes).tolist()
    }
    kept = [group for group, pair in sizes.items() if min(pair) >= least]
    # The largest are shown where there are very many.
    kept = sorted(kept, key=lambda group: (-sum(sizes[group]), names[group]))[:MOST_SHOWN]
    kept.sort(key=lambda group: names[group])
    parts = [(names[group], rows & (classes == group)) for group in kept]
    rest = rows & ~np.isin(classes, np.array(kept, dtype=np.uint64))
    small = len(sizes) - len(kept)
    if not small:
        return parts, ()
    together = min(np.count_nonzero(rest & member), np.count_nonzero(rest & ~member)) >= least
    if together:
        parts.append((_OTHER, rest))
        text = f"{small} classes with few records are shown together as 'other'."
        return parts, (Finding(code="groups_merged", text=text),)
    text = f"{small} classes with few records are not shown by themselves."
    return parts, (Finding(code="groups_left_out", text=text),)
