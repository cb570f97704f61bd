"""The input and the duty to have a policy, as a policy file states them."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.places import ROOT

LIMIT = "max_advantage = 0.9\n"
GROUP = '[[limit]]\nquantity = "advantage"\nmax = 0.9\ngroup = "*"\n'


@pytest.fixture
def folder(tmp_path):
    for name in ("private.parquet", "leaky.parquet"):
        shutil.copy(ROOT / "sample_data" / name, tmp_path)
    (tmp_path / "members.csv").write_text("loss\n" + "0.5\n0.25\n" * 30)
    (tmp_path / "holdout.csv").write_text("loss\n" + "0.5\n0.125\n" * 30)
    return tmp_path


def inputs(done):
    assert done.returncode == 0, done.stderr
    return [one["name"] for one in json.loads(done.stdout)["provenance"]["inputs"]]


def test_the_scores_may_stand_in_the_file(mipaudit, folder):
    (folder / "mipaudit.toml").write_text('scores = "private.parquet"\n' + LIMIT)

    assert inputs(mipaudit("estimate", "-f", "json")) == ["private.parquet"]
    assert mipaudit("estimate").stdout.startswith("MET: ")
    assert mipaudit("check").returncode == 0
    # What is typed goes before.
    assert inputs(mipaudit("check", "leaky.parquet", "-f", "json")) == ["leaky.parquet"]
    apart = ("--members", "members.csv", "--holdout", "holdout.csv")
    assert inputs(mipaudit("check", *apart, "-f", "json")) == ["members.csv", "holdout.csv"]


def test_they_are_found_from_the_folder_of_the_file(mipaudit, folder):
    (folder / "policies").mkdir()
    (folder / "policies" / "p.toml").write_text('scores = ["../private.parquet"]\n')

    done = mipaudit("check", "--config", "policies/p.toml", "-f", "json")

    assert done.returncode == 0, done.stderr


def test_without_a_word_only_a_file_that_is_found_names_them(mipaudit, folder):
    (folder / "p.toml").write_text('scores = "private.parquet"\n')
    env = {"MIPAUDIT_CONFIG": "p.toml"}

    assert mipaudit("check", env=env).returncode == 2  # help, where a pipeline lost its words
    assert mipaudit("check", "-q", env=env).returncode == 0


def test_another_commands_scores_are_not_those(mipaudit, folder):
    (folder / "mipaudit.toml").write_text('scores = "private.parquet"\n')

    assert mipaudit("bounds", "--epsilon", "1").returncode == 0
    made = mipaudit(
        *("query", "losses", "--logits", str(ROOT / "sample_data" / "model.npz"), "-o", "s.csv")
    )
    assert made.returncode == 0, made.stderr
    counted = mipaudit("epsilon", "--canaries", "100", "--guesses", "50", "--correct", "40")
    assert counted.returncode == 0, counted.stderr
    # Without words there is nothing to do, but for who takes scores.
    assert mipaudit("epsilon").stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    ("words", "file", "status"),
    [
        (["estimate", "private.parquet", "--require-policy"], "prior = 0.5", 2),
        (["estimate", "private.parquet"], "require_policy = true\n", 2),
        (["estimate", "private.parquet"], "[estimate]\nrequire_policy = true\n", 2),
        (["records", "private.parquet"], "[estimate]\nrequire_policy = true\n", 0),
        (["estimate", "private.parquet", "--require-policy"], LIMIT, 0),
        (["estimate", "private.parquet", "--require-policy"], "max_copies = 0\n", 3),
        (["estimate", "private.parquet", "--require-policy"], GROUP, 2),
        (["records", "private.parquet", "--require-policy"], LIMIT, 2),
        (["records", "private.parquet", "--require-policy"], "max_risk = 0.9\n", 0),
        (["compare", "leaky.parquet", "--require-policy"], LIMIT, 2),
        (["attack", "private.parquet", "--require-policy"], LIMIT, 0),
        (["check", "private.parquet"], "require_policy = true\n", 0),
        (["estimate", "private.parquet"], None, 2),
        # What is too much is refused, too.
        (["check"], 'scores = ["private.parquet", "leaky.parquet"]\n', 2),
    ],
)
def test_a_policy_may_be_required(mipaudit, folder, words, file, status):
    env = {} if file else {"MIPAUDIT_REQUIRE_POLICY": "true"}
    (folder / "mipaudit.toml").write_text(file or "prior = 0.5\n")

    done = mipaudit(*words, env=env)

    assert done.returncode == status, done.stderr
    if status == 2:
        what = (
            "takes one of the score files"
            if words == ["check"]
            else "--require-policy asks for one"
        )
        assert what in done.stderr
        assert file or "MIPAUDIT_REQUIRE_POLICY" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    "setting", ['score_col = "loss"', "prior = 0.3", "discrete = true", 'unit_col = "who"']
)
def test_settings_for_all_commands_do_not_keep_reports_from_being_compared(
    mipaudit, folder, setting
):
    for name in ("a.json", "b.json"):
        mipaudit("estimate", "private.parquet", "-o", name)
    (folder / "mipaudit.toml").write_text(setting + "\n")

    assert mipaudit("compare", "a.json", "b.json").returncode == 0
    typed = mipaudit("compare", "a.json", "b.json", "--score-col", "loss", "--no-config")
    assert typed.returncode == 2


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("delta = 1e-5", ["estimate", "private.parquet"]),
        ('blind_against = "thresholds"', ["estimate", "private.parquet"]),
        ('unit_rows = "mean"', ["estimate", "private.parquet"]),
        ('small_groups = "refuse"', ["records", "private.parquet"]),
        ("categories = 3", ["bounds", "--epsilon", "1"]),
    ],
)
def test_what_goes_with_a_setting_of_another_command_is_no_mistake(
    mipaudit, folder, setting, words
):
    (folder / "mipaudit.toml").write_text(f"{setting}\n")
    key = setting.partition(" ")[0]

    done = mipaudit(*words, "-f", "json")
    own = f"[{words[0]}]\n{setting}\n"
    (folder / "mipaudit.toml").write_text(own)
    meant = mipaudit(*words)

    assert done.returncode == 0, done.stderr
    settings = {one["name"]: one for one in json.loads(done.stdout)["provenance"]["settings"]}
    assert settings[key]["source"] == "default"
    assert meant.returncode == 2
    assert "has no meaning without" in meant.stderr


def test_it_counts_where_it_means_something(mipaudit, folder):
    (folder / "mipaudit.toml").write_text("delta = 1e-5\n")

    done = mipaudit("estimate", "private.parquet", "--claimed-epsilon", "3", "-f", "json")

    settings = {one["name"]: one for one in json.loads(done.stdout)["provenance"]["settings"]}
    assert (settings["delta"]["value"], settings["delta"]["source"]) == (1e-5, "file")
