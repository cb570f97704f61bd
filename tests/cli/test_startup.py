"""Help, version, bounds and noise are quick: nothing heavy is loaded, the ratio is bounded."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

import pytest

HEAVY = {
    *("numpy", "scipy", "pandas", "pyarrow", "rich", "msgspec", "pydantic", "polars"),
    *("matplotlib", "dp_accounting", "tomllib"),
}
# Rooms that work on arrays and files, which pure mathematics does not enter.
ROOMS = (
    *("mipaudit.commands.noise.calibration", "mipaudit.data"),
    *("mipaudit.summaries", "mipaudit.engine"),
)
BUDGET = 8.0
TRIALS, ROUNDS = 3, 9

HELP = [
    *("--help", "--version"),
    *(f"{one} --help" for one in ("estimate", "check", "bounds", "noise", "validate", "simulate")),
]
MATHEMATICS = [
    f"{words}{form}"
    for words in ("bounds --epsilon 1 --delta 1e-5", "noise --eta 0.1 --k 2")
    for form in ("", " -f json")
]


@pytest.mark.parametrize("arguments", HELP + MATHEMATICS)
def test_nothing_heavy_is_loaded_and_no_room_for_data_by_mathematics(environment, arguments):
    loaded = _modules_loaded_by(arguments, environment)

    assert "typer" in loaded
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    if arguments in MATHEMATICS:
        assert f"mipaudit.commands.{arguments.split()[0]}.run" in loaded
        assert [name for name in loaded if name.startswith(ROOMS)] == []


def _python(code, environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )


def _modules_loaded_by(arguments, environment):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['mipaudit', *{arguments.split()!r}]\n"
        "from mipaudit.cli.app import main\n"
        "main()\n"
    )
    return _python(code, environment).stderr.split()


def test_importing_the_package_loads_nothing(environment):
    done = _python("import mipaudit, sys; print(*sys.modules)", environment)

    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "mipaudit" in loaded
    assert loaded & (HEAVY | {"typer", "dataclasses", "inspect"}) == set()


def test_garbage_is_collected_once_a_command_runs(environment):
    code = (
        "import gc, sys\n"
        "from mipaudit.cli import app; from mipaudit.cli import program\n"
        "run = program.run\n"
        "def watched(arguments):\n"
        "    before, status = gc.isenabled(), run(arguments)\n"
        "    print(before, gc.isenabled(), file=sys.stderr)\n"
        "    return status\n"
        "program.run = watched\n"
        "sys.argv = ['mipaudit', 'schema']\n"
        "app.main()\n"
    )
    assert _python(code, environment).stderr == "False True\n"


# What scipy drags in and nobody uses is not loaded, and is there when asked for.
SPARED = """
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


def test_parts_are_loaded_when_they_are_used(environment):
    _python(SPARED, environment)


@pytest.mark.skipif(os.name != "posix", reason="counts the CPU time of child processes")
@pytest.mark.parametrize("arguments", ["--help", "--version", *MATHEMATICS])
def test_start_up_is_within_its_budget(environment, tmp_path, arguments):
    # Compiled as an installed package is, away from the source tree.
    compiled = {**environment, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    compiled.pop("PYTHONDONTWRITEBYTECODE", None)
    bare, program = ["-c", "pass"], ["-m", "mipaudit", *arguments.split()]
    for command in (bare, program):
        _cpu_seconds(command, compiled)

    def ratio():
        pairs = [
            (_cpu_seconds(program, compiled), _cpu_seconds(bare, compiled)) for _ in range(ROUNDS)
        ]
        return statistics.median(p for p, _ in pairs) / statistics.median(b for _, b in pairs)

    # What else runs on the machine takes the caches away, which costs the larger of the two more.
    assert min(ratio() for _ in range(TRIALS)) <= BUDGET


def _cpu_seconds(arguments, environment):
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
