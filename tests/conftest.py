"""What every test shares: the data folder, repeatable properties, and no silent skips."""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

# As the program sets it for itself, before the first test loads the libraries.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = [
    "tests.fixtures.codes",  # which others import, as the next
    "tests.fixtures.rows",
    "tests.fixtures.commands",
    "tests.fixtures.coverage",
    "tests.fixtures.evidence",
    "tests.fixtures.files",
    "tests.fixtures.noise",
    "tests.fixtures.pages",
    "tests.fixtures.parts",
    "tests.fixtures.program",
    "tests.fixtures.rates",
    "tests.fixtures.records",
    "tests.fixtures.reports",
    "tests.skip_guard",
    "store_servers",  # what more than one folder of tests starts
]
HERE: Final = Path(__file__).parent
# What more than one folder of tests starts, such as servers.
sys.path.insert(0, str(HERE / "servers"))

# The same examples on every machine: a failure in CI is a failure at the desk.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


# A shell without job control starts what runs in its background deaf to control-C, and so are
# all children: the program keeps to that, and tests of control-C would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The small real score files; README.md there says what they are."""
    return HERE / "data"


@pytest.fixture(autouse=True)
def _repeatable_draws(request, monkeypatch):
    """Draw what the program takes from the operating system from the test's own name instead.

    A test that fails once in a hundred runs is a failure that nobody can look at.
    """
    drawn = random.Random(request.node.nodeid)  # noqa: S311 - nothing here is a secret
    monkeypatch.setattr(secrets, "token_bytes", drawn.randbytes)
    monkeypatch.setattr(secrets, "randbits", drawn.getrandbits)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their number: workers that collect in different seconds must agree.

    What is packed with gzip holds the time. Two workers whose tests have different names
    end the whole run before its first test.
    """
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None
