"""Every command is documented as it is, and every worked example of its help works."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mipaudit.cli.program import COMMANDS, application

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_LEAST_EXAMPLES = 2
# Its own examples take minutes to an hour; the options are what is tried.
# In place of what an example of `validate` asks for, which takes long.
_SMALLER = {
    "--scenario": "constant",
    "--sizes": "20",
    "--priors": "0.5",
    "--replications": "1",
    "--jobs": "1",
}
_DECIDED = {0, 1, 3}


def load_page():
    spec = importlib.util.spec_from_file_location("commands_page", HERE / "commands_page.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_program_says():
    page = load_page()
    assert page.PAGE.read_text(encoding="utf-8") == page.commands_page()


def examples(command):
    lines = application((command,)).commands[command].help.splitlines()
    start = next((n for n, line in enumerate(lines) if re.match(r"Examples?:$", line)), None)
    found = [] if start is None else [line for line in lines[start:] if re.match(r"  \S", line)]
    return [line.strip() for line in found]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_worked_examples(command):
    assert len(examples(command)) >= _LEAST_EXAMPLES


ALL = [(command, example) for command in COMMANDS for example in examples(command)]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory, run_line):
    """A folder with every file that an example reads."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(7)
    member = rng.random(2000) < 0.5
    frame = pd.DataFrame(
        {
            "member": member,
            "loss": rng.normal(size=2000) - 0.8 * member,
            "lira_online": rng.normal(size=2000) + 0.6 * member,
            "sex": rng.choice(["f", "m"], 2000),
            "race": rng.choice(["x", "y"], 2000),
            "model": rng.integers(1, 4, 2000),
            "patient": [f"p{number}" for number in range(2000)],
            "record_id": np.arange(2000),
        }
    )
    one = frame[["member", "patient", "record_id", "loss"]]
    _write_scores(folder, frame, one)
    runs = pd.DataFrame({"canary": member, "score": rng.laplace(size=2000) + 2 * member})
    runs.to_parquet(folder / "runs.parquet")
    runs.rename(columns={"canary": "included"}).to_csv(folder / "canaries.csv", index=False)
    for name, older in (("members", 5), ("holdout", 0)):
        count = int((member == (name == "members")).sum())
        features = pd.DataFrame(
            {
                "patient": rng.integers(0, 5000, count),
                "age": rng.normal(50 + older, 10, count),
                "visit": np.arange(count),
            }
        )
        features.to_csv(folder / f"{name}.csv", index=False)
    _write_adult(folder, rng)
    splits = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    splits.to_parquet(folder / "splits.parquet")
    splits.to_csv(folder / "splits.csv", index=False)
    splits.head(1).to_csv(folder / "release.csv", index=False)
    _write_model_outputs(folder, rng, member)
    _write_tables(folder, rng)

    def run(command):
        assert run_line(command, folder).returncode == 0, command

    run("mipaudit bounds --mu 1 --curve dpsgd.csv -q -o bounds.txt")
    run("mipaudit estimate scores.parquet -f json -o report.json -q")
    run("mipaudit render report.json -o report.html -q")
    run("mipaudit estimate scores.parquet --max-advantage 0.9 -o judged.json -q")
    (folder / "model.bin").write_bytes(b"a model")
    run("mipaudit render judged.json --subject model.bin -o model.intoto.json -q")
    run("mipaudit estimate v1.parquet -f json -o old.json -q")
    run("mipaudit estimate v2.parquet -f json -o new.json -q")
    run("mipaudit compare v1.parquet v2.parquet -f json -o compared.json -q")
    (folder / "reports").mkdir()
    shutil.copy(folder / "old.json", folder / "reports")
    run("mipaudit shift members.csv holdout.csv -f json -o shift.json -q")
    tables = "--members m.csv --holdout h.csv --synthetic s.csv"
    run(f"mipaudit query nn {tables} -o queried.csv -f json -q > query.json")
    run("mipaudit bounds --mu 1 -f json -o bounds.json -q")
    for site in ("a", "b"):
        run(f"mipaudit summarize {site}.csv --site {site} --cuts-only -o {site}.cuts -q")
    (folder / "sites").mkdir()
    run("mipaudit summarize scores.parquet -o sites/one.summary -q")
    run("mipaudit init --policy research -o research.toml -q")
    # In a folder of its own: every other example would take it as its policy.
    (folder / "policy").mkdir()
    (folder / "policy" / "mipaudit.toml").write_text("max_advantage = 0.9\n", encoding="utf-8")
    return folder


def _write_adult(folder, rng):
    """Write a file like the Adult data, which has no line of names."""
    kinds = [
        rng.integers(17, 90, 1000),
        rng.choice(["Private", "?"], 1000),
        rng.integers(1, 9, 1000),
        rng.choice(["HS-grad", "Masters"], 1000),
        *(rng.integers(1, 9, 1000) for _ in range(10)),
        rng.choice(["<=50K", ">50K"], 1000),
    ]
    pd.DataFrame(dict(enumerate(kinds))).to_csv(folder / "adult.data", index=False, header=False)


def _write_scores(folder, frame, one):
    one.to_parquet(folder / "scores.parquet")
    noise = np.random.default_rng(8).normal(size=20 * len(one))
    many = pd.concat([one] * 20, ignore_index=True)
    many = many.assign(loss=many["loss"] + noise, record_id=np.arange(len(many)))
    many.drop(columns="patient").to_parquet(folder / "large.parquet")
    frame.to_parquet(folder / "full.parquet")
    frame[["member", "loss", "sex", "race"]].to_parquet(folder / "groups.parquet")
    one.assign(model=3).to_csv(folder / "scores.csv", index=False)
    one.to_csv(folder / "scores.csv.gz", index=False)
    for name, part in (("in", one[one.member]), ("out", one[~one.member])):
        part.drop(columns="member").to_csv(folder / f"{name}.csv", index=False)
    (folder / "parts").mkdir()
    for name, part in (("a", one.head(900)), ("b", one.tail(1100))):
        part.to_parquet(folder / "parts" / f"{name}.parquet")
        part.to_csv(folder / f"{name}.csv", index=False)
    for name, sign in (("v1", 1), ("v2", 0.5)):
        one.assign(loss=one["loss"] * sign).to_parquet(folder / f"{name}.parquet")


def _write_model_outputs(folder, rng, member):
    residuals = pd.DataFrame({"member": member, "residual": rng.normal(size=2000) * (2 - member)})
    residuals.to_csv(folder / "residuals.csv", index=False)
    truth = rng.choice(["x", "y"], 2000)
    guess = np.where(rng.random(2000) < 0.5 + 0.2 * member, truth, "x")
    guesses = {"member": member, "attribute": truth, "guess": guess}
    guesses |= {"race": truth, "guessed_race": guess}
    pd.DataFrame(guesses).to_csv(folder / "guesses.csv", index=False)
    label = rng.integers(0, 3, 2000)
    logits = rng.normal(size=(2000, 3)) + 2 * np.eye(3)[label]
    np.savez(folder / "model.npz", logits=logits, labels=label, member=member)
    np.save(folder / "reference.npy", rng.normal(size=(2000, 3)))
    for name, values in (("m", logits), ("y", label), ("in", member)):
        np.save(folder / f"{name}.npy", values)
    for name, side in (("m", member), ("h", ~member)):
        np.savez(folder / f"{name}.npz", logits=logits[side], labels=label[side])
    outputs = pd.DataFrame(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    outputs.columns = ["a", "b", "c"]
    outputs.assign(member=member, label=label).to_csv(folder / "outputs.csv", index=False)
    coins = rng.random((20, 2000)) < 0.5
    phi, target = rng.normal(size=(20, 2000)) + coins, rng.normal(size=2000) + member
    shadows = {"shadow": phi, "inclusion": coins, "target": target, "member": member}
    np.savez(folder / "shadows.npz", **shadows)
    p = {name: 1 / (1 + np.exp(-shadows[name])) for name in ("shadow", "target")}
    np.savez(folder / "p.npz", **{**shadows, **p})
    np.save(folder / "phi.npy", phi)
    np.save(folder / "coins.npy", coins)
    pd.DataFrame({"member": member, "phi": target}).to_csv(folder / "target.csv", index=False)


def _write_tables(folder, rng):
    for name, rows in (("m", 60), ("h", 60), ("s", 200), ("r", 100)):
        records = pd.DataFrame(
            {
                "age": rng.integers(18, 90, rows),
                "job": rng.choice(["a", "b", "c"], rows),
                "zip": rng.integers(1000, 9999, rows),
            }
        )
        if name in "mh":
            people = {"person": np.arange(rows) // 2, "sex": rng.choice(["f", "m"], rows)}
            records = records.assign(**people)
        records.to_parquet(folder / f"{name}.parquet")
        records.to_csv(folder / f"{name}.csv", index=False)


def smaller(example):
    """Return an example of ``validate`` with the options of a quick run."""
    for option, value in _SMALLER.items():
        replaced, times = re.subn(rf"{option} \S+", f"{option} {value}", example)
        example = replaced if times else f"{example} {option} {value}"
    return f"{example} -q"


@pytest.mark.parametrize(("command", "example"), ALL, ids=[example for _, example in ALL])
def test_worked_examples_work(sandbox, run_line, tmp_path, command, example):
    if command == "validate":
        example = smaller(example)
    # Groups and several columns are in files of their own, so that the others stay simple.
    if "--by" in example:
        example = example.replace("scores.parquet", "groups.parquet")
    if command == "compare":
        example = example.replace("scores.parquet", "full.parquet")
    if command == "compare" and "full.parquet" in example and "--score-col" not in example:
        example += " --score-col loss --score-col lira_online"
    # Every other example would take what `init` writes as its policy.
    done = run_line(example, tmp_path if example.startswith("mipaudit init") else sandbox)
    assert done.returncode in _DECIDED, done.stderr
    assert "Traceback" not in done.stderr
