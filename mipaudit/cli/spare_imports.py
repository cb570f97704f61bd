"""Parts of numpy that scipy imports and no command uses: loaded when they are used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# Their first import takes every public name of numpy and with them the Fortran
# wrapper generator and the test tools: a third of the time it takes.
_GREEDY: Final = frozenset({"scipy", "pandas"})
_PARTS: Final = ("f2py", "testing", "ma", "ctypeslib", "typing", "polynomial")


class _BeforeGreedy:
    """Stands before all finders of modules, to know when one of ``_GREEDY`` is looked for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        """Find nothing; the finders behind it do."""
        del path, target
        if name in _GREEDY:
            _put_off()


_FINDER: Final = _BeforeGreedy()


def spare_imports() -> None:
    """Put off the import of ``_PARTS`` until something of theirs is asked for.

    For a process of our own alone: whoever imports the package keeps numpy as it is.
    """
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _put_off() -> None:
    from importlib.util import LazyLoader, find_spec, module_from_spec

    import numpy as np

    for part in _PARTS:
        name = f"numpy.{part}"
        if name in sys.modules or (spec := find_spec(name)) is None or spec.loader is None:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        setattr(np, part, module)
