"""What stdout carries, on a terminal and elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.places import TESTS

STAND_IN = str(TESTS / "fixtures" / "stand_in.py")


@pytest.mark.parametrize(
    ("variables", "widths"),
    [({}, range(91, 101)), ({"COLUMNS": "80"}, range(81)), ({"FORCE_COLOR": "1"}, range(91, 101))],
)
def test_piped_tables_have_no_colour_and_a_width_that_is_set(stand_in, variables, widths):
    done = stand_in("met", "estimate", "x.csv", env=variables)

    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.split("\n"))) in widths


def test_a_terminal_gets_colour_unless_no_color(environment, tmp_path):
    coloured = _on_terminal(environment, tmp_path, ["met", "estimate", "x.csv"])
    plain = _on_terminal({**environment, "NO_COLOR": "1"}, tmp_path, ["met", "estimate", "x.csv"])
    dumb = _on_terminal({**environment, "TERM": "dumb"}, tmp_path, ["met", "estimate", "x.csv"])

    assert "\x1b[1;32mMET: " in coloured
    assert "MET: " in plain
    assert "\x1b" not in plain + dumb


def test_a_bar_appears_on_a_terminal_in_slow_runs_only(environment, tmp_path, stand_in):
    slow = _on_terminal(environment, tmp_path, ["slow", "estimate", "x.csv", "-o", "out.txt"])
    quiet = _on_terminal(environment, tmp_path, ["slow", "estimate", "x.csv", "-q", "-o", "o.txt"])
    quick = _on_terminal(environment, tmp_path, ["met", "estimate", "x.csv", "-o", "out.txt"])

    assert "reading" in slow
    assert "reading" not in quiet + quick
    assert "no callback" in quiet
    assert stand_in("slow", "estimate", "x.csv").stderr == "no callback\n"


@pytest.mark.parametrize("charset", ["ascii", "latin-1"])
def test_a_narrow_character_set_loses_no_figure(stand_in, charset):
    done = stand_in("met", "estimate", "x.csv", env={"PYTHONIOENCODING": charset})

    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "0.2113" in done.stdout


def test_json_is_the_same_but_for_the_provenance(stand_in):
    one = stand_in("met", "estimate", "x.csv", "-f", "json", "--prior", "0.5")
    two = stand_in("met", "estimate", "x.csv", "-f", "json")

    assert one.stdout.split('"provenance"')[0] == two.stdout.split('"provenance"')[0]
    sources = {s["name"]: s for s in json.loads(one.stdout)["provenance"]["settings"]}
    given = {"name": "prior", "value": 0.5, "source": "command line", "where": None}
    assert sources["prior"] == given
    assert sources["seed"] == {"name": "seed", "value": None, "source": "default", "where": None}
    assert "quiet" not in sources


def _on_terminal(environment, folder, arguments):
    """Run the stand-in with its output on a pseudo-terminal; return what it wrote."""
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    terminal = environment | {"TERM": "dumb" if environment.get("TERM") == "dumb" else "xterm"}
    process = subprocess.Popen(
        [sys.executable, STAND_IN, *arguments], env=terminal, cwd=folder, stdout=side, stderr=side
    )
    os.close(side)
    found = b""
    with suppress(OSError):  # the other side has gone
        while chunk := os.read(main, 65536):
            found += chunk
    process.wait(timeout=30)
    os.close(main)
    return found.decode().replace("\r", "")
