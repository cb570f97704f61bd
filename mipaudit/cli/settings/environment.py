"""The environment variables that begin as ours do: none of them is passed over in silence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PREFIX: Final = "MIPAUDIT_"
_NEAR: Final = 0.75
# They hold for whatever is read, and are no command's option.
_EVERYWHERE: Final = frozenset({"MIPAUDIT_MAX_UNPACKED"})


def variable_name(key: str) -> str:
    """Return the environment variable that stands for an option, by its key."""
    return PREFIX + key.upper()


def foreign_variables(own: Iterable[str]) -> list[str]:
    """Return the variables set with our prefix that stand for no option of the command.

    Args:
        own: the variables of the command's options.
    """
    known = frozenset(own) | _EVERYWHERE
    return sorted(
        name
        for name, value in os.environ.items()
        if value and name.upper().startswith(PREFIX) and name not in known
    )


def require_known(names: Iterable[str], every: Callable[[], Iterable[str]]) -> None:
    """Refuse variables that stand for no option of any command.

    A limit whose name is misspelt would not be judged, and the run would pass: as with the
    keys of a file, what is not known is an error.

    Args:
        names: variables with our prefix.
        every: returns the variables of all options; asked only if there is need.

    Raises:
        UsageError: ``environment``; the nearest known variable is named.
    """
    wanted = list(names)
    known = _EVERYWHERE | frozenset(every()) if wanted else frozenset()
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is None:
        return
    from difflib import get_close_matches

    from mipaudit.statements.text.printable_names import safe_name

    # Without the prefix, which would make all of them alike.
    keys = sorted(name.removeprefix(PREFIX) for name in known)
    near = get_close_matches(unknown.upper().removeprefix(PREFIX), keys, n=1, cutoff=_NEAR)
    raise UsageError(
        "environment",
        f"The environment variable {safe_name(unknown)} is unknown.",
        hint=(f"Did you mean {PREFIX}{near[0]}? " if near else "")
        + f"Variables that begin with {PREFIX} are the long names of options; unset the others.",
    )
