"""Drawing with matplotlib: whether it is there, in a style of our own, and quietly."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mipaudit.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator


def require_plotting() -> None:
    """Check that pictures can be drawn.

    Raises:
        MissingExtraError: ``plotting_missing``: matplotlib is not installed.
    """
    with quiet_plotting():
        try:
            import matplotlib.figure  # noqa: F401 - whether it is there is the question
        except ImportError:
            raise MissingExtraError(
                "plotting_missing",
                "Plots are drawn by matplotlib, which is not installed.",
                hint='Try: pip install "mipaudit[plot]"',
            ) from None


@contextmanager
def own_style() -> Iterator[None]:
    """Draw in the style that the picture was laid out for, not in the user's own."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"font.size": 9.0, "svg.hashsalt": "mipaudit"})
        yield


@contextmanager
def quiet_plotting() -> Iterator[None]:
    """Keep matplotlib's remarks about its caches off the screen."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
