"""``mipaudit shift`` as users run it, and ``estimate --blind``."""

from __future__ import annotations

import json

import numpy as np
import pytest


def write(folder, name, seed, older):
    rng = np.random.default_rng(seed)
    age, ward = rng.normal(50 + older, 10, 300).round(1), rng.choice(["a", "b"], 300)
    rows = [f"{name}{at},{a},{w},{a / 10}" for at, (a, w) in enumerate(zip(age, ward, strict=True))]
    (folder / f"{name}.csv").write_text("\n".join(["patient,age,ward,loss", *rows]) + "\n")


@pytest.fixture
def tables(tmp_path):
    write(tmp_path, "m", 1, 10)
    write(tmp_path, "h", 2, 0)
    return tmp_path


COMMAND = ("shift", "m.csv", "h.csv", "--id-col", "patient", "--ignore", "loss")


def test_table(mipaudit, tables):
    done = mipaudit(*COMMAND)
    assert (done.returncode, done.stderr) == (0, "")
    assert "told apart without the model" in done.stdout
    assert "  age     numbers" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(("limit", "code"), [("0.05", 1), ("0.4", 3), ("0.95", 0)])
def test_exit_code(mipaudit, tables, limit, code):
    assert mipaudit(*COMMAND, "--max-blind", limit).returncode == code
    relaxed = mipaudit(*COMMAND, "--max-blind", limit, "--exit-zero")
    assert relaxed.returncode == 0
    words = " ".join(relaxed.stdout.split())
    assert "the blind advantage is at " in words
    assert "score 'the records'" not in words


def test_blind(mipaudit, tables):
    assert mipaudit(*COMMAND, "-f", "json", "-o", "shift.json", "-q").returncode == 0
    assert (tables / "shift.json.sha256").exists()
    audit = ("estimate", "--members", "m.csv", "--holdout", "h.csv", "--score-col", "loss")
    assert mipaudit(*audit, "--max-advantage", "0.1").returncode == 1
    done = mipaudit(*audit, "--max-advantage", "0.1", "--blind", "shift.json")
    assert done.returncode == 3
    assert "records alone" in done.stdout
    bound = (*audit, "--max-advantage", "0.1", "--blind", "shift.json", "--blind-bound")
    for wrong in ("1", "-0.1", "nan", "much", "0.0001"):
        done = mipaudit(*bound, wrong)
        assert (done.returncode, done.stdout) == (2, "")
    (tables / "mipaudit.toml").write_text("[estimate]\nblind_bound = 0.9\n")
    done = mipaudit(*audit, "--max-advantage", "0.1", "--blind", "shift.json")
    assert done.returncode == 3
    assert "assuming that nobody who sees the records alone" in done.stdout.splitlines()[0]
    (tables / "mipaudit.toml").unlink()
    saved = ("-f", "json", "-o", "audit.json", "-q")
    assert mipaudit(*audit, "--blind", "shift.json", *saved).returncode == 0
    assert mipaudit("render", "audit.json", "--max-advantage", "0.1").returncode == 3
    verified = mipaudit("verify", "audit.json", "--members", "m.csv", "--holdout", "h.csv")
    assert verified.returncode == 0
    write(tables, "h", 3, 0)
    done = mipaudit(*audit, "--blind", "shift.json", "-f", "json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "blind_other_records"


def test_the_report_of_shift_is_not_overwritten(mipaudit, tables):
    assert mipaudit(*COMMAND, "-f", "json", "-o", "shift.json", "-q").returncode == 0
    audit = ("estimate", "--members", "m.csv", "--holdout", "h.csv", "--score-col", "loss")
    done = mipaudit(*audit, "--blind", "shift.json", "-o", "shift.json")
    assert done.returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("m.csv",),
        ("m.csv", "none.csv"),
        ("m.csv", "m.csv"),
        ("m.csv", "h.csv", "--columns", "height"),
        ("m.csv", "h.csv", "--max-blind", "2"),
        ("m.csv", "h.csv", "-o", "m.csv"),
    ],
)
def test_usage(mipaudit, tables, arguments):
    before = (tables / "m.csv").read_bytes()
    done = mipaudit("shift", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert (tables / "m.csv").read_bytes() == before
