"""A panel: the methods that are run on every file of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.validation.estimands.estimands import ESTIMANDS
from mipaudit.validation.rivals.alternatives import ALTERNATIVES

if TYPE_CHECKING:
    from mipaudit.validation.coverage.interval import Interval
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Names of estimands and of other methods; light, so that it travels to processes.

    Attributes:
        estimands: whose limits by the tool are tested.
        alternatives: other methods beside them.
        strict: whether the tool's finite-sample methods are asked for.
        named: whether the estimands were asked for by name, so that dear ones are tried on
            every file.
        only_selected: leave out what other methods say of other estimands.
    """

    estimands: tuple[str, ...]
    alternatives: tuple[str, ...]
    strict: bool = False
    named: bool = True
    only_selected: bool = True

    def say(self, audited: AuditedFile, law: Law) -> list[Interval]:
        """Return all that the methods say of a file drawn from a law."""
        said: list[Interval] = []
        for name in self.estimands:
            one = ESTIMANDS[name]
            asked = self.named or one.usually(law, audited.member.size, audited.number)
            if asked and one.concerns(law):
                said.extend(one.intervals(audited))
        if law.width > 1:
            return said  # the other methods are for one number
        others = (ALTERNATIVES[name] for name in self.alternatives)
        said.extend(
            one.interval(audited)
            for one in others
            if not self.only_selected or one.estimand in self.estimands
        )
        return said
