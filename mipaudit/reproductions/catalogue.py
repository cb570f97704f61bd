"""All reproductions, in the order of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import UsageError
from mipaudit.reproductions.figures.humphries_fig1 import HUMPHRIES_FIG1
from mipaudit.reproductions.figures.humphries_fig6 import HUMPHRIES_FIG6
from mipaudit.reproductions.figures.humphries_people import (
    HUMPHRIES_FIG2,
    HUMPHRIES_FIG3,
    HUMPHRIES_FIG4,
)
from mipaudit.reproductions.figures.izzo_fig1 import IZZO_FIG1
from mipaudit.reproductions.figures.izzo_fig2 import IZZO_FIG2
from mipaudit.reproductions.figures.lecture_thm2 import LECTURE_THM2
from mipaudit.reproductions.figures.yeom_fig2 import YEOM_FIG2
from mipaudit.reproductions.mace.fig2 import MACE_FIG2
from mipaudit.reproductions.mace.fig3 import MACE_FIG3
from mipaudit.reproductions.mace.fig4 import MACE_FIG4
from mipaudit.reproductions.mace.fig5 import MACE_FIG5
from mipaudit.reproductions.mace.fig6 import MACE_FIG6
from mipaudit.reproductions.mace.fig7 import MACE_FIG7

if TYPE_CHECKING:
    from typing import Final

    from mipaudit.reproductions.reproduction import Reproduction

REPRODUCTIONS: Final[tuple[Reproduction, ...]] = (
    IZZO_FIG1,
    IZZO_FIG2,
    HUMPHRIES_FIG1,
    HUMPHRIES_FIG2,
    HUMPHRIES_FIG3,
    HUMPHRIES_FIG4,
    HUMPHRIES_FIG6,
    MACE_FIG2,
    MACE_FIG3,
    MACE_FIG4,
    MACE_FIG5,
    MACE_FIG6,
    MACE_FIG7,
    YEOM_FIG2,
    LECTURE_THM2,
)


def find_reproduction(name: str) -> Reproduction:
    """Return a reproduction by its id.

    Raises:
        UsageError: ``unknown_figure``: there is none of that id.
    """
    found = next((one for one in REPRODUCTIONS if one.id == name), None)
    if found is None:
        from difflib import get_close_matches

        close = get_close_matches(name, [one.id for one in REPRODUCTIONS], n=1)
        raise UsageError(
            "unknown_figure",
            "There is no reproduction of that name.",
            hint=(f"Did you mean {close[0]}? " if close else "")
            + "mipaudit reproduce --list shows them all.",
        )
    return found
