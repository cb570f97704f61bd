"""The project's frame: its files agree with each other and with what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.places import ROOT, load_script

SAMPLES = ROOT / "sample_data"
DATA = ROOT / "tests" / "data"


def table_rows(readme):
    """Return the cells of every body row of the tables in a README, without backticks."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def read(path):
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def auc_and_best_advantage(member, score):
    """Count pairs and scan thresholds, the long way."""
    ins, outs = np.sort(score[member]), np.sort(score[~member])
    below = np.searchsorted(outs, ins, "left") + np.searchsorted(outs, ins, "right")
    cuts = np.unique(score)
    rates = [np.searchsorted(part, cuts, "right") / part.size for part in (ins, outs)]
    return below.sum() / (2 * ins.size * outs.size), np.abs(rates[0] - rates[1]).max()


DATA_ROWS = table_rows(DATA / "README.md")


def test_every_file_of_data_and_every_sample_is_described_and_small():
    files = {path.name for path in DATA.iterdir() if path.suffix not in {"", ".md", ".py"}}
    kinds = ("mip_", "release_")  # no scores in these
    assert {row[0] for row in DATA_ROWS} == {name for name in files if not name.startswith(kinds)}
    described = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"**{kind}**" in described for kind in kinds)
    assert sum((DATA / name).stat().st_size for name in files) < 1_500_000
    described = {name for row in table_rows(SAMPLES / "README.md") for name in row[0].split(", ")}
    samples = {one for one in SAMPLES.iterdir() if one.suffix in {".csv", ".parquet", ".npz"}}
    assert described == {path.name for path in samples}
    assert all(path.stat().st_size < 200_000 for path in samples)


@pytest.mark.parametrize("row", DATA_ROWS, ids=lambda row: f"{row[0]}:{row[4]}")
def test_data_file_is_as_its_readme_says(row):
    name, column, members, holdout, score, auc, best, truth = row
    table = read(DATA / name)
    member = table[column].to_numpy().astype(bool)
    assert (member.sum(), (~member).sum()) == (int(members), int(holdout))
    found = auc_and_best_advantage(member, table[score].to_numpy(np.float64))
    assert found == pytest.approx((float(auc), float(best)), abs=6e-5)
    if truth:
        # The maximum over thresholds is biased upward, by about a KS statistic.
        assert float(truth) - 0.03 < found[1] < float(truth) + 0.04


@pytest.mark.parametrize(
    ("name", "score", "best"), [("leaky", "lira_online", 0.2300), ("private", "loss", 0.0077)]
)
def test_leaky_sample_leaks_and_private_sample_does_not(name, score, best):
    table = read(SAMPLES / f"{name}.parquet")
    found = auc_and_best_advantage(table["member"].to_numpy(bool), table[score].to_numpy())[1]
    assert found == pytest.approx(best, abs=6e-5)


def test_csv_pair_is_what_its_maker_makes(tmp_path):
    load_script(SAMPLES / "make_samples.py").main(tmp_path)
    for name in ("members.csv", "holdout.csv"):
        made, kept = (read(folder / name) for folder in (tmp_path, SAMPLES))
        assert list(made["record_id"]) == list(kept["record_id"])
        np.testing.assert_allclose(made["absolute_error"], kept["absolute_error"], 0, 1e-3)


def test_files_to_start_with_are_what_their_maker_makes(tmp_path):
    load_script(SAMPLES / "make_start_samples.py").main(tmp_path)
    for name in ("probabilities.csv", "models.csv", "canaries.csv"):
        made, kept = (read(folder / name) for folder in (tmp_path, SAMPLES))
        pd.testing.assert_frame_equal(made, kept, atol=1e-3)


def test_files_to_start_with_have_the_right_answers_that_are_said():
    said = {row[0]: row[4] for row in table_rows(SAMPLES / "README.md") if len(row) == 5}
    forest, trees = (read(SAMPLES / f"{name}.csv") for name in ("probabilities", "models"))
    scores = {"forest": forest.assign(score=[row[row["label"]] for _, row in forest.iterrows()])}
    scores |= dict(iter(trees.assign(score=trees["absolute_error"]).groupby("model")))
    best = {
        name: auc_and_best_advantage(one["member"].to_numpy(bool), one["score"].to_numpy())[1]
        for name, one in scores.items()
    }
    assert f" {best['forest']:.2f} " in said["probabilities.csv"]
    assert f" {best['depth-8']:.2f} " in said["models.csv"]
    # What chance alone exceeds in one file out of twenty.
    assert max(best["depth-1"], best["depth-2"]) < 0.193
    (epsilon,) = mipaudit.epsilon(SAMPLES / "canaries.csv", design="one-run").to_pandas()["lower"]
    assert 2 < epsilon < float(re.search(r"epsilon is ([\d.]+)", said["canaries.csv"])[1])


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


README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_readme_commands_and_gate_steps_are_make_targets_that_set_up_what_they_need():
    rules = dict(re.findall(r"^([a-z-]+): ?(.*(?:\n\t.*)*)", MAKEFILE, flags=re.MULTILINE))
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = set(re.search(r"^steps=\((.*)\)$", gate, flags=re.MULTILINE).group(1).split())
    assert {"demo"} <= set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE))
    assert {"test", "lint", "types", "imports", "validate-short"} <= steps <= rules.keys()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    # The demo installs what a user needs, and the tests the rest.
    for name, first in (("demo", "setup"), ("test", "tools"), ("tools", "setup")):
        assert rules[name].startswith(f"{first}\n")
    for name, lock in (("setup", "requirements.lock"), ("tools", "requirements-dev.lock")):
        assert f"installed {lock}" in rules[name]
    assert "requirements-dev.lock" not in rules["setup"]


def test_after_the_demo_the_next_command_works_as_it_stands_there(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "activate").write_text(f"PATH={tmp_path}/bin:$PATH\n", encoding="utf-8")
    program = tmp_path / "bin" / "mipaudit"
    program.write_text("#!/bin/sh\necho asked: $*\n", encoding="utf-8")
    program.chmod(0o755)
    demo = ["make", "--old-file=setup", "--no-print-directory", "demo", f"VENV={tmp_path}"]
    said = subprocess.run(demo, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [line.strip() for line in said.splitlines() if line.startswith("  ")]
    (block,) = re.findall(r"^make demo\n((?:.+\n)*?)```", README, flags=re.MULTILINE)

    assert f"The program is {program}." in said
    assert [line.replace(str(tmp_path), ".venv") for line in lines] == block.splitlines()
    typed = ["sh", "-ec", "\n".join(lines)]
    done = subprocess.run(typed, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "asked: estimate sample_data/leaky.parquet --max-advantage 0.1\n"


@pytest.mark.parametrize(("status", "said"), [(0, ""), (1, "ERROR: no such hash\n")])
def test_an_installation_names_what_it_fetches_and_says_why_it_failed(tmp_path, status, said):
    (recipe,) = re.findall(r"^INSTALL = ((?:.*\\\n)*.*)", MAKEFILE, flags=re.MULTILINE)
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
MODULE = "import pytest\npytest.importorskip('no_such_module')\n"


@pytest.mark.parametrize(
    ("module", "strict", "listed", "workers", "status"),
    [
        (SKIPPING, "0", "", "0", 0),
        (SKIPPING, "1", "", "0", 1),
        (SKIPPING, "1", "", "2", 1),
        (SKIPPING, "1", "test_it.py::test_skipped\tno such system\n", "2", 0),
        (SKIPPING, "1", "test_it.py::test_skipped\tanother reason\n", "0", 1),
        (SKIPPING, "1", "# test_it.py::test_skipped\tno such system\n", "0", 1),
        (MODULE, "1", "", "2", 1),  # a module that is skipped as a whole
    ],
)
def test_unlisted_skip_fails_the_session_in_strict_mode(
    tmp_path, module, strict, listed, workers, status
):
    """Under the guard, and no other plugin but the workers'."""
    (tmp_path / "test_it.py").write_text(module, encoding="utf-8")
    (tmp_path / "test_more.py").write_text("def test_passing(): ...", encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "allowed_skips.txt").write_text(listed, encoding="utf-8")
    plugins = ("-p", "xdist", "-p", "tests.skip_guard", "-p", "no:cacheprovider")
    guard = {"STRICT_SKIPS": strict, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-n", workers, "."],
        cwd=tmp_path,
        env={**os.environ, **guard, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    assert "1 skipped" in done.stdout
    assert ("does not list" in done.stdout) == (status == 1)
    assert module != MODULE or "test_it.py\tcould not import 'no_such_module'" in done.stdout
    assert module != SKIPPING or "2 passed, 1 skipped, 1 xfailed" in done.stdout


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
