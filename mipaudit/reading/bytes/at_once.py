"""Work on many inputs at once, where each of them waits for a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MANY: Final = 16

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def is_remote(blob: object) -> bool:
    """Tell whether reading ``blob`` waits for a store.

    Asked of every input: local ones must not wait until what reads stores is loaded.
    """
    return bool(getattr(blob, "remote", False))


def each_at_once(
    work: Callable[[ItemT], ResultT], items: Sequence[ItemT], *, remote: bool
) -> list[ResultT]:
    """Return ``work`` of each item, in order; many at a time where each waits for a store."""
    if not remote or len(items) < 2:  # noqa: PLR2004
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(_MANY, len(items))) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
