"""The picture of a report of ``attack``: named attacks beside the best attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.attack.page import strongest_first
from mipaudit.formats.document import ATTACKERS, quoted
from mipaudit.formats.drawing import Interval, intervals, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.attack.report import AttackReport
    from mipaudit.formats.document import Picture


def attack_pictures(report: AttackReport) -> Iterator[Picture]:
    """Yield the attacks and the best attacker, of each score."""
    for number, score in enumerate(report.design.score_columns, start=1):
        best = [
            Interval(ATTACKERS[one.attackers], one.lower, one.value, one.upper)
            for one in report.optimum
            if one.score == score and one.attackers in ATTACKERS
        ]
        named = [
            Interval(one.adversary.replace("-", " "), one.lower, one.value, one.upper)
            for one in strongest_first(report.attacks)
            if one.score == score
        ]
        if best or named:
            yield intervals(
                [*best, *named],
                name=f"attacks{number}",
                what="advantage",
                caption=f"Attacks on {quoted(score)}, the best attacker first.",
                ends=(min([report.design.baseline, *_lowest(named)]), 1.0),
                marks=marks_of(
                    (one.limit for one in report.policy if one.score == score),
                    report.design.baseline,
                ),
            )


def _lowest(rows: list[Interval]) -> list[float]:
    return [x for one in rows for x in one[1:4] if x is not None]
