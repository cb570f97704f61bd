"""What scipy drags in and nobody uses is not loaded, and is there when asked for."""

import subprocess
import sys

SCRIPT = """
import sys
from mipaudit.cli.program import spare_imports
spare_imports()
import scipy.special
loaded = {name for name in sys.modules if name.startswith("numpy.f2py.")}
assert not loaded, loaded
import numpy.testing
numpy.testing.assert_allclose(numpy.ma.masked_array([1.0, 2.0], [0, 1]).sum(), 1.0)
assert numpy.f2py.__name__ == "numpy.f2py" and callable(numpy.f2py.get_include)
spare_imports()
import pandas, scipy.stats
"""


def test_parts_are_loaded_when_they_are_used():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
