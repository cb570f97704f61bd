"""Which number of a release is which coordinate of the splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.noise.release.vector import Release

_SHOWN: Final = 3


def align(release: Release, columns: Sequence[str], *, named: bool = True) -> NDArray[np.intp]:
    """Return where each coordinate of the splits is in the release.

    With names on both sides they must be the same set, in any order; otherwise the
    coordinates are matched by position.

    Args:
        release: the vector.
        columns: the d coordinates of the splits.
        named: whether these are names from the file.

    Returns:
        ``places`` of shape (d,): ``release.values[places]`` is in the order of
        ``columns``, and ``noised[places] = ...`` puts numbers back in the release's.

    Raises:
        InputError: ``columns_differ``.
    """
    names = release.names
    if names is None or not named:
        if release.values.size != len(columns):
            raise InputError(
                "columns_differ",
                f"{release.source.name}: the release has {release.values.size} numbers, and the "
                f"splits have {len(columns)} columns.",
                hint="Both must hold the same coordinates.",
            )
        return np.arange(len(columns))
    places = {name: at for at, name in enumerate(names)}
    wanted = set(columns)
    absent = [name for name in columns if name not in places]
    extra = [name for name in names if name not in wanted]
    if absent or extra:
        raise _names_differ(release.source.name, absent, extra)
    return np.array([places[name] for name in columns], dtype=np.intp)


def _names_differ(source: str, absent: Sequence[str], extra: Sequence[str]) -> InputError:
    parts = [f"the release lacks {_listed(absent)} of the splits" if absent else ""]
    parts += [f"the splits lack {_listed(extra)} of the release" if extra else ""]
    return InputError(
        "columns_differ",
        f"{source}: {', and '.join(part for part in parts if part)}.",
        hint="Both must hold the same coordinates, in any order; row numbers belong in neither.",
    )


def _listed(names: Sequence[str]) -> str:
    word = "column" if len(names) == 1 else f"{len(names)} columns"
    shown = ", ".join(quoted_name(name) for name in names[:_SHOWN])
    return f"{word} {shown}" if len(names) <= _SHOWN else f"{word} ({shown} and others)"
