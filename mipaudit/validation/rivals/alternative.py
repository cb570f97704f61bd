"""What an alternative is: a method of others, run on the same files as ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from mipaudit.validation.coverage.interval import Interval

if TYPE_CHECKING:
    from mipaudit.validation.rivals.audited_file import AuditedFile

NOMINAL: Final = 0.975


class Alternative(ABC):
    """Another method, with limits at the same nominal coverage as ours.

    Attributes:
        name: the label of its rows.
        description: what it does, in a sentence.
        valid: whether its limits are known to hold; if not, a run must catch it.
        estimand: the name of what it states.
        nominal: promised coverage of each of its limits.
        enough: files without a leak in which it is caught for certain, if it is invalid.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    valid: ClassVar[bool]
    estimand: ClassVar[str] = "advantage"
    nominal: ClassVar[float] = NOMINAL
    enough: ClassVar[int] = 200

    @abstractmethod
    def limits(self, audited: AuditedFile) -> tuple[float | None, float | None]:
        """Return the lower and the upper limit, None where it states none."""

    def interval(self, audited: AuditedFile) -> Interval:
        """Return what it says of a file."""
        lower, upper = self.limits(audited)
        return Interval(
            estimand=self.estimand,
            lower=lower,
            upper=upper,
            nominal=self.nominal,
            label=self.name,
            source="valid" if self.valid else "invalid",
        )
