"""What may be given more than once, the version, and the public names."""

from __future__ import annotations

import json

import pytest

import mipaudit as package


@pytest.mark.parametrize(
    "words", [("--by", "sex,site"), ("--by", "sex", "--by", "site"), ("--by", "sex,site,sex")]
)
def test_columns_are_repeated_or_listed(mipaudit, tmp_path, words):
    rows = "".join(f"{at % 2},{at / 7},{'fm'[at % 3 > 0]},{at // 2 % 2}\n" for at in range(400))
    (tmp_path / "scores.csv").write_text(f"member,loss,sex,site\n{rows}")

    done = mipaudit("records", "scores.csv", *words, "-f", "json")

    report = json.loads(done.stdout)
    settings = {one["name"]: one["value"] for one in report["provenance"]["settings"]}
    assert settings["by"] == ["sex", "site"]
    assert "sex=f, site=0" in {one["group"] for one in report["groups"]}


def test_lists_and_flags_may_be_repeated(mipaudit, tmp_path):
    rows = "".join(f"{at % 2},{at / 7},{at % 5}\n" for at in range(60))
    (tmp_path / "scores.csv").write_text(f"member,loss,conf\n{rows}")
    lists = ("--score-col", "loss", "--score-col", "conf", "-q", "-q")

    done = mipaudit("check", "scores.csv", *lists)

    assert done.returncode == 0
    assert "loss, conf" in done.stdout


def test_version_and_public_names(mipaudit):
    done = mipaudit("--version")
    assert (done.returncode, done.stdout) == (0, f"mipaudit {package.__version__}\n")
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match="no attribute 'estimat'"):
        _ = package.estimat
