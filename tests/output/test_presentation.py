"""What stdout carries, on a terminal and elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.places import TESTS

STAND_IN = str(TESTS / "fixtures" / "stand_in.py")


def test_piped_tables_have_no_colour_and_a_fixed_width(stand_in):
    done = stand_in("met", "estimate", "x.csv")

    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert 90 < max(map(len, done.stdout.split("\n"))) <= 100


def test_columns_is_honoured(stand_in):
    done = stand_in("met", "estimate", "x.csv", env={"COLUMNS": "80"})

    assert max(map(len, done.stdout.split("\n"))) <= 80


def test_force_color_does_not_reach_a_pipe(stand_in):
    done = stand_in("met", "estimate", "x.csv", env={"FORCE_COLOR": "1"})

    assert "\x1b" not in done.stdout


def test_a_terminal_gets_colour_unless_no_color(environment, tmp_path):
    coloured = _on_terminal(environment, tmp_path, ["met", "estimate", "x.csv"])
    plain = _on_terminal({**environment, "NO_COLOR": "1"}, tmp_path, ["met", "estimate", "x.csv"])
    dumb = _on_terminal({**environment, "TERM": "dumb"}, tmp_path, ["met", "estimate", "x.csv"])

    assert "\x1b[1;32mMET: " in coloured
    assert "MET: " in plain
    assert "\x1b" not in plain + dumb


def test_a_bar_appears_on_a_terminal_in_slow_runs_only(environment, tmp_path):
    slow = _on_terminal(environment, tmp_path, ["slow", "estimate", "x.csv", "-o", "out.txt"])
    quiet = _on_terminal(environment, tmp_path, ["slow", "estimate", "x.csv", "-q", "-o", "o.txt"])
    quick = _on_terminal(environment, tmp_path, ["met", "estimate", "x.csv", "-o", "out.txt"])

    assert "reading" in slow
    assert "reading" not in quiet + quick
    assert "no callback" in quiet


def test_a_pipe_gets_no_bar(stand_in):
    done = stand_in("slow", "estimate", "x.csv")

    assert done.stderr == "no callback\n"


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


def test_schema_is_json(mipaudit):
    done = mipaudit("schema")

    assert done.returncode == 0
    assert set(json.loads(done.stdout)["$defs"]) >= {"Report", "CheckReport", "Row"}


def _on_terminal(environment, folder, arguments):
    """Run the stand-in with its output on a pseudo-terminal; return what it wrote."""
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    terminal = {"TERM": "xterm", **{k: v for k, v in environment.items() if k != "TERM"}}
    if environment.get("TERM") == "dumb":
        terminal["TERM"] = "dumb"
    process = subprocess.Popen(
        [sys.executable, STAND_IN, *arguments], env=terminal, cwd=folder, stdout=side, stderr=side
    )
    os.close(side)
    chunks = []
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the other side has gone
            break
        if not chunk:
            break
        chunks.append(chunk)
    process.wait(timeout=30)
    os.close(main)
    return re.sub(r"\r", "", b"".join(chunks).decode())
