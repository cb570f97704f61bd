"""Parts of numpy that scipy imports and no command uses: loaded when they are used."""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec
from typing import Final

# scipy's first import takes every public name of numpy and with them the Fortran
# wrapper generator and the test tools: a third of the time it takes.
_PARTS: Final = ("f2py", "testing", "ma", "ctypeslib", "typing", "polynomial")


def spare_imports() -> None:
    """Put off the import of ``_PARTS`` until something of theirs is asked for.

    For a process of our own alone: whoever imports the package keeps numpy as it is.
    """
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
