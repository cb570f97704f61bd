"""Options named in sentences: `` `loss_bound` `` in the code, ``--loss-bound`` as it is typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mipaudit.options.declare import declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.options.declare import Options

_NAMED: Final = re.compile(r"`([a-z][a-z0-9_]*)`")


def flags_of(*classes: type[Options]) -> dict[str, str]:
    """Return the options of classes as they are typed, by name."""
    options = [one for kind in classes for one in declared(kind)]
    return {one.name: one.option.flag.split("/")[-1] for one in options if one.option.flag}


def as_typed(text: str, flags: Mapping[str, str]) -> str:
    """Return a sentence with the options in it as they are typed; other names stay."""
    return _NAMED.sub(lambda found: flags.get(found[1], found[0]), text)
