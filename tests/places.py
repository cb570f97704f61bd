"""Where things are, for tests at any depth."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# One stored report of every kind.
REPORTS = TESTS / "reports"


def load_script(path):
    """Import a script that lies outside the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # Where a dataclass looks for its own module.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
