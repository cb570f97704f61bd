"""All partitions of an input, and who is told what was left out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from mipaudit.errors import InputError
from mipaudit.reading.rows.left_out import Intake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mipaudit.summaries.rows import Rows


class Partition(Protocol):
    """A part of the input that can be read on its own, here or by another process."""

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, and count in ``intake`` what is left out of them.

        May be called several times, and for different partitions from several
        threads at once, each with an intake of its own.

        Raises:
            FaultyRowsError: a missing score, membership or key; three labels.
            BadPartsError: the part cannot be read.
        """
        ...


class Ledger(Protocol):
    """Keeps account of what was left out of an input."""

    def settle(self, intake: Intake) -> None:
        """Take the account of one full pass; raise the fault that it shows."""
        ...

    def fault(self) -> InputError:
        """Return the error for the faults of all rows."""
        ...


class FaultyRowsError(InputError):
    """Rows that must end the run; only the whole input knows what to say about them."""


PartitionT_co = TypeVar("PartitionT_co", bound=Partition, covariant=True)
OtherT = TypeVar("OtherT", bound=Partition)


class Partitions(Sequence[PartitionT_co], Generic[PartitionT_co]):
    """Partitions in row order."""

    __slots__ = ("_items", "_ledger")

    def __init__(self, items: Iterable[PartitionT_co], ledger: Ledger) -> None:
        """Keep them with the ledger of their input."""
        self._items = tuple(items)
        self._ledger = ledger

    @overload
    def __getitem__(self, index: int) -> PartitionT_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PartitionT_co, ...]: ...
    def __getitem__(self, index: int | slice) -> PartitionT_co | tuple[PartitionT_co, ...]:
        """Return one partition, or several."""
        return self._items[index]

    def __len__(self) -> int:
        """Return their number."""
        return len(self._items)

    def mapped(self, change: Callable[[PartitionT_co], OtherT]) -> Partitions[OtherT]:
        """Return them changed, with the same ledger."""
        return Partitions([change(one) for one in self._items], self._ledger)

    def settle(self, intake: Intake) -> None:
        """Close the account of one full pass.

        Raises:
            InputError: rows that must end the run.
        """
        self._ledger.settle(intake)

    def fault(self) -> InputError:
        """Return the error for the faults of all rows."""
        return self._ledger.fault()

    def rows(self) -> Iterator[Rows]:
        """Yield all rows in order, read here; a full pass is settled.

        Raises:
            InputError: a fault of the rows, with their number.
        """
        intake = Intake()
        try:
            for one in self._items:
                yield from one.batches(intake)
        except FaultyRowsError:
            raise self.fault() from None
        self.settle(intake)
