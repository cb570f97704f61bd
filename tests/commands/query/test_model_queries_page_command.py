"""The examples of the page on model queries run on the sample data, and give what it says."""

from __future__ import annotations

import re
import shlex

from tests.places import ROOT

PAGE = ROOT / "docs" / "how-to" / "model-outputs.md"


def commands():
    """Return the lines of the shell block that audits a model's outputs."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [one for one in blocks if "sample_data/model.npz" in one]
    return [shlex.split(line)[1:] for line in block.splitlines()]


def test_the_example_runs_from_outputs_to_verdict(mipaudit, tmp_path):
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    found = []
    for line in commands():
        done = mipaudit(*line)
        assert done.returncode == 0, done.stderr
        found += [" ".join(done.stdout.split())] if "query" not in line else []
    page = " ".join(PAGE.read_text("utf-8").split())
    (of_loss, of_lira), (loss, lira) = found, ("0.0072", "0.1484")
    assert f"implies an advantage of at least {loss}," in of_loss
    assert f"at least {lira}" in of_lira
    assert f"advantage is at least {loss};" in page
    assert f"answers at least {lira}." in page
