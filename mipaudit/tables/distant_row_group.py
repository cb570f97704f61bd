"""A row group as another process knows it: by its file and number."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.tables.bad_parts import input_changed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mipaudit.tables.blob import Blob
    from mipaudit.tables.column import Chunk
    from mipaudit.tables.parquet import ParquetPart

_LOCK: Final = threading.Lock()
# The last file that this process opened, by its blob. Its row groups come one after the other.
_LAST: Final[dict[Blob, ParquetPart]] = {}


@dataclass(frozen=True, slots=True)
class DistantRowGroup:
    """One row group; its file's footer is read where the rows are."""

    blob: Blob
    group: int
    rows: int

    @property
    def stays(self) -> bool:
        """It has travelled, and may go on."""
        return False

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Decode the named columns in chunks.

        Raises:
            InputError: ``bad_parquet``, or ``input_changed`` where the file is not as the
                run found it.
        """
        from mipaudit.tables.parquet import RowGroup

        part = _opened(self.blob)
        if part.footer.rows[self.group : self.group + 1] != (self.rows,):
            raise input_changed(self.blob)
        group = RowGroup(part=part, group=self.group, rows=self.rows)
        yield from group.chunks(names, first_row)


def _opened(blob: Blob) -> ParquetPart:
    from mipaudit.tables.parquet import open_parquet

    with _LOCK:
        part = _LAST.get(blob)
    if part is not None:
        return part
    # A file that is gone, or not there for this worker, is said to be so by opening it.
    part = open_parquet(blob)
    if blob.changed():
        raise input_changed(blob)
    with _LOCK:
        _LAST.clear()
        _LAST[blob] = part
    return part
