"""The project's frame: its files agree with each other and with what they promise."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.places import load_script

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_data"
DATA = ROOT / "tests" / "data"


def table_rows(readme):
    """Return the cells of every body row of the tables in a README, without backticks."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def read_column(path, name):
    """Return one column of a CSV or Parquet file as an array."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return np.array([row[name] for row in csv.DictReader(file)])
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=[name]).column(name).to_numpy()


def read_member(path, name):
    column = read_column(path, name)
    return column == "True" if column.dtype.kind == "U" else column.astype(bool)


def auc_and_best_advantage(member, score):
    """Count pairs and scan thresholds, the long way."""
    ins, outs = np.sort(score[member]), np.sort(score[~member])
    below = np.searchsorted(outs, ins, "left") + np.searchsorted(outs, ins, "right")
    cuts = np.unique(score)
    rates = [np.searchsorted(part, cuts, "right") / part.size for part in (ins, outs)]
    return below.sum() / (2 * ins.size * outs.size), np.abs(rates[0] - rates[1]).max()


DATA_ROWS = table_rows(DATA / "README.md")


def test_every_data_file_is_described_and_small():
    files = {path.name for path in DATA.iterdir() if path.suffix not in {"", ".md", ".py"}}
    kinds = ("mip_", "release_")  # no scores in these
    assert {row[0] for row in DATA_ROWS} == {name for name in files if not name.startswith(kinds)}
    described = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"**{kind}**" in described for kind in kinds)
    assert sum((DATA / name).stat().st_size for name in files) < 1_500_000


@pytest.mark.parametrize("row", DATA_ROWS, ids=lambda row: f"{row[0]}:{row[4]}")
def test_data_file_is_as_its_readme_says(row):
    name, column, members, holdout, score, auc, best, truth = row
    member = read_member(DATA / name, column)
    values = read_column(DATA / name, score).astype(np.float64)
    assert (member.sum(), (~member).sum()) == (int(members), int(holdout))
    found = auc_and_best_advantage(member, values)
    assert found == pytest.approx((float(auc), float(best)), abs=6e-5)
    if truth:
        # The maximum over thresholds is biased upward, by about a KS statistic.
        assert float(truth) - 0.03 < found[1] < float(truth) + 0.04


def test_every_sample_is_described_and_small():
    described = {name for row in table_rows(SAMPLES / "README.md") for name in row[0].split(", ")}
    files = {path.name for path in SAMPLES.iterdir() if path.suffix in {".csv", ".parquet", ".npz"}}
    assert described == files
    assert all((SAMPLES / name).stat().st_size < 200_000 for name in files)


def test_leaky_sample_leaks_and_private_sample_does_not():
    import pyarrow.parquet as pq

    best = {}
    for name, score in (("leaky", "lira_online"), ("private", "loss")):
        table = pq.read_table(SAMPLES / f"{name}.parquet", columns=["member", score])
        member = table.column("member").to_numpy().astype(bool)
        best[name] = auc_and_best_advantage(member, table.column(score).to_numpy())[1]
    assert best == pytest.approx({"leaky": 0.2300, "private": 0.0077}, abs=6e-5)


def test_csv_pair_is_what_its_maker_makes(tmp_path):
    load_script(SAMPLES / "make_samples.py").main(tmp_path)
    for name in ("members.csv", "holdout.csv"):
        for column, tolerance in (("record_id", 0), ("absolute_error", 1e-3)):
            made = read_column(tmp_path / name, column).astype(float)
            kept = read_column(SAMPLES / name, column).astype(float)
            np.testing.assert_allclose(made, kept, rtol=0, atol=tolerance)


def requirement_name(requirement):
    return re.match(r"[A-Za-z0-9_.-]+", requirement).group().lower().replace("_", "-")


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("requirements-dev.lock", ("dev", "sklearn")), ("requirements.lock", ())],
)
def test_a_lock_file_pins_every_requirement_with_hashes_and_no_host(lock, extras):
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, build = described["project"], described["build-system"]["requires"]
    asked = [one for name in extras for one in project["optional-dependencies"][name]]
    wanted = map(requirement_name, [*project["dependencies"], *asked, *build])
    text = (ROOT / lock).read_text(encoding="utf-8")
    pinned = r"^([a-z0-9.-]+)==(\S+).*?\\\n    --hash=sha256:"
    pins = set(re.findall(pinned, text, flags=re.MULTILINE))
    assert set(wanted) <= {name for name, _ in pins}
    everything = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    assert pins <= set(re.findall(pinned, everything, flags=re.MULTILINE))
    assert "://" not in text
    assert "index-url" not in text


def test_readme_commands_and_gate_steps_are_make_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = set(re.search(r"^steps=\((.*)\)$", gate, flags=re.MULTILINE).group(1).split())
    assert {"demo", "test"} <= set(re.findall(r"^make ([a-z-]+)", readme, flags=re.MULTILINE))
    assert {"test", "lint", "types", "imports", "validate-short"} <= steps <= targets
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_demo_installs_what_a_user_needs_and_the_tests_the_rest():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = dict(re.findall(r"^([a-z-]+): ?(.*(?:\n\t.*)*)", makefile, flags=re.MULTILINE))
    assert rules["demo"].startswith("setup\n")
    assert rules["test"].startswith("tools\n")
    assert rules["tools"].startswith("setup\n")
    assert "installed requirements.lock" in rules["setup"]
    assert "requirements-dev.lock" not in rules["setup"]
    assert "installed requirements-dev.lock" in rules["tools"]


@pytest.mark.parametrize(("status", "said"), [(0, ""), (1, "ERROR: no such hash\n")])
def test_an_installation_names_what_it_fetches_and_says_why_it_failed(tmp_path, status, said):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^INSTALL = ((?:.*\\\n)*.*)", makefile, flags=re.MULTILINE)
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\necho 'Collecting rich==1 (from x)'\nprintf '{said}' >&2\nexit {status}\n"
    )
    python.chmod(0o755)
    script = recipe.replace("$(BIN)", str(tmp_path)).replace("$(VENV)", str(tmp_path))
    done = subprocess.run(
        ["/bin/sh", "-ec", script.replace("$$", "$") + "; installed a.lock; echo installed"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert done.stdout == "  rich==1\n" + "installed\n" * (status == 0)
    assert said in done.stderr


SKIPPING = """
import pytest

@pytest.mark.skip(reason="no such system")
def test_skipped(): ...

@pytest.mark.xfail(strict=True)
def test_expected_failure():
    assert False

def test_passing(): ...
"""


@pytest.mark.parametrize(
    ("strict", "listed", "workers", "status"),
    [
        ("0", "", "0", 0),
        ("1", "", "0", 1),
        ("1", "", "2", 1),
        ("1", "test_it.py::test_skipped\tno such system\n", "2", 0),
        ("1", "test_it.py::test_skipped\tanother reason\n", "0", 1),
        ("1", "# test_it.py::test_skipped\tno such system\n", "0", 1),
    ],
)
def test_unlisted_skip_fails_the_session_in_strict_mode(tmp_path, strict, listed, workers, status):
    (tmp_path / "test_it.py").write_text(SKIPPING, encoding="utf-8")
    done = guarded(tmp_path, listed, workers=workers, strict=strict)
    assert done.returncode == status, done.stdout
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout
    assert ("does not list" in done.stdout) == (status == 1)


def test_module_skipped_as_a_whole_is_seen(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_passing(): ...", encoding="utf-8")
    module = "import pytest\npytest.importorskip('no_such_module')\n"
    (tmp_path / "test_gone.py").write_text(module, encoding="utf-8")
    done = guarded(tmp_path, "")
    assert done.returncode == 1, done.stdout
    assert "test_gone.py\tcould not import 'no_such_module'" in done.stdout


def guarded(folder, listed, *, workers="2", strict="1"):
    """Run the tests of a folder under the guard, and no other plugin but the workers'."""
    (folder / "tests").mkdir()
    (folder / "tests" / "allowed_skips.txt").write_text(listed, encoding="utf-8")
    plugins = ("-p", "xdist", "-p", "tests.skip_guard", "-p", "no:cacheprovider")
    environment = {
        **os.environ,
        "STRICT_SKIPS": strict,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-n", workers, "."],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_session_has_the_guard(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("tests.skip_guard")


BURN = """
import subprocess, sys, time
held = bytearray(96 << 20)
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "child"], check=True)
end = time.process_time() + 0.15
while time.process_time() < end:
    pass
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_benchmarks_count_the_whole_process_tree(tmp_path):
    measure = load_script(ROOT / "benchmarks" / "measure.py")
    script = tmp_path / "burn.py"
    script.write_text(BURN, encoding="utf-8")
    cost = measure.run((sys.executable, str(script)))
    assert 0.3 <= cost.cpu < 2
    assert 192 <= cost.peak / measure.MEBIBYTE < 300
    with pytest.raises(RuntimeError, match="exit status 3"):
        measure.run((sys.executable, "-c", "raise SystemExit(3)"))
