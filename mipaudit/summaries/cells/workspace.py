"""Memory that is used again for every batch, so that none has to be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NumberT = TypeVar("NumberT", bound=np.generic)


class Workspace:
    """Arrays by name; what one held is gone when it is asked for again.

    Not thread-safe: one per worker. To another process it travels empty.
    """

    __slots__ = ("_arrays",)

    def __init__(self) -> None:
        """Start without memory."""
        self._arrays: dict[tuple[str, np.dtype[Any]], NDArray[Any]] = {}

    def __reduce__(self) -> tuple[type[Workspace], tuple[()]]:
        """Travel empty."""
        return Workspace, ()

    def array(self, name: str, size: int, dtype: np.dtype[NumberT]) -> NDArray[NumberT]:
        """Return the array ``name`` of this size; its contents are arbitrary."""
        kept = self._arrays.get((name, dtype))
        if kept is None or kept.size < size:
            kept = self._arrays[name, dtype] = np.empty(size, dtype=dtype)
        return kept[:size]
