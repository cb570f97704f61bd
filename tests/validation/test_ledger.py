"""Finished cells on disk."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mipaudit.errors import InputError, OutputError
from mipaudit.validation.coverage import Ledger, code_fingerprint
from mipaudit.validation.replications import Panel

RUN = {"seed": 1, "version": {"mipaudit": "1"}}


PANEL = Panel(estimands=("auc",), alternatives=())


def test_what_is_kept_is_found_again(tmp_path, row, cell):
    name = str(tmp_path / "cells.jsonl")
    rows = (row(3, mean_gap=0.1 + 0.2), row(4, side="upper", bias=-1e-17))
    Ledger(name, RUN).add(cell(), PANEL, rows)
    again = Ledger(name, RUN)
    assert again.find(cell(), PANEL) == rows
    assert again.find(cell(), replace(PANEL, strict=True)) is None
    assert len((tmp_path / "cells.jsonl").read_bytes().splitlines()) == 2


def test_without_a_file_cells_are_kept_in_memory(row, cell):
    ledger = Ledger()
    ledger.add(cell(), PANEL, (row(1),))
    assert ledger.find(cell(), PANEL) == (row(1),)
    assert Ledger().find(cell(), PANEL) is None


def test_a_line_that_was_cut_off_is_dropped(tmp_path, row, cell):
    path = tmp_path / "cells.jsonl"
    ledger = Ledger(str(path), RUN)
    ledger.add(cell(), PANEL, (row(1),))
    whole = path.read_bytes()
    later = cell(prior=0.1), PANEL
    ledger.add(*later, (row(2),))
    path.write_bytes(path.read_bytes()[:-20])
    again = Ledger(str(path), RUN)
    assert (again.find(cell(), PANEL), again.find(*later)) == ((row(1),), None)
    assert path.read_bytes() == whole
    again.add(*later, (row(2),))
    assert Ledger(str(path), RUN).find(*later) == (row(2),)


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ({**RUN, "seed": 2}, "another seed"),
        ({**RUN, "version": {"mipaudit": "2"}}, "another version"),
        ({"seed": 2, "version": {}}, "another seed and another version"),
    ],
)
def test_another_run_is_refused_with_what_differs(tmp_path, run, named):
    name = str(tmp_path / "cells.jsonl")
    Ledger(name, RUN)
    with pytest.raises(InputError, match=named) as caught:
        Ledger(name, run)
    assert caught.value.code == "other_run"


@pytest.mark.parametrize(
    "content",
    [
        b"precious",
        b"precious\n",
        b"\x00\xff\n",
        b"[1]\n",
        b'{"schema": "mipaudit.report/3"}\n',
        "head\n[]\n",
        "head\n[1, []]\n",
        'head\n["a", [{"misses": "many"}]]\n',
        "head\n\n",
    ],
)
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "cells.jsonl"
    if isinstance(content, str):
        Ledger(str(path), RUN)
        content = content.encode().replace(b"head\n", path.read_bytes())
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Ledger(str(path), RUN)
    assert caught.value.code == "bad_resume_file"
    assert "many" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    for name in (str(tmp_path), str(tmp_path / "no" / "such"), "nul\0byte"):
        with pytest.raises(OutputError) as caught:
            Ledger(name, RUN)
        assert caught.value.code == "unusable_resume_file"


def test_the_file_says_what_it_is(tmp_path):
    path = tmp_path / "cells.jsonl"
    Ledger(str(path), RUN)
    assert json.loads(path.read_bytes()) == {"schema": "mipaudit.validation-cells/1", **RUN}
    assert len(code_fingerprint()) == 16
