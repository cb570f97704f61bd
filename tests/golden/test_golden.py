"""The golden runs against the stored copy of their figures, and what finds a difference.

The copy is of the commit `before_less` (.ci/size.toml), which `.ci/golden` alone writes. Here it
holds to 1e-9, for another processor; `make golden` compares with the commit to the last bit.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import subprocess
import sys
import tomllib
from dataclasses import asdict

import pytest

from tests.golden.compare import differences, read_changes, unexpected
from tests.golden.extract_v3 import extract
from tests.golden.inputs import main as make_inputs
from tests.golden.runs import HERE, all_runs, perform
from tests.places import ROOT
from tests.within import run_within

STORED = json.loads(gzip.decompress((HERE / "figures.json.gz").read_bytes()))
RUNS = [run for run in all_runs() if not run.slow]
CHANGES = read_changes(HERE / "changed.toml")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden") / "inputs"
    make_inputs(folder, with_large=False)
    return folder


@pytest.fixture
def start(tmp_path):
    """Run the program within this process, and scripts in one of their own."""
    kept = ("PATH", "PYTHONPATH", "TMPDIR", "OPENBLAS_")
    environment = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    environment |= {"HOME": str(tmp_path), "TZ": "UTC", "LANG": "C.UTF-8"}
    environment |= {"COLUMNS": "100", "NO_COLOR": "1"}

    def run(words, folder, env, stdin):
        given = environment | env | {"PYTHONPATH": str(ROOT)}
        with open(stdin or os.devnull, "rb") as source:  # noqa: PTH123
            if words[0] == "python":
                done = subprocess.run(
                    [sys.executable, *words[1:]],
                    cwd=folder,
                    env=given,
                    stdin=source,
                    capture_output=True,
                    check=False,
                )
            else:
                how = {"stdin": source, "text": False, "timeout": 120}
                done = run_within(words, environment=given, folder=folder, **how)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_no_figure_no_verdict_and_no_exit_code_changed(run, start, inputs, tmp_path):
    found = json.loads(json.dumps(asdict(perform(run, tmp_path / "run", inputs, start))))
    changes = [each for each in CHANGES if each["run"] == run.name]
    anywhere = [each for each in CHANGES if each["run"] == "*"]
    faults = differences({run.name: STORED["runs"][run.name]}, {run.name: found}, near=True)
    left = unexpected([each for each in faults if unexpected([each], anywhere)], changes)

    assert [line for line in left if not line.startswith("changed.toml")] == []


def test_the_copy_is_of_all_runs_and_of_the_commit_before():
    size = ROOT / ".ci" / "size.toml"
    if size.exists():
        assert STORED["commit"] == tomllib.loads(size.read_text("utf-8"))["before_less"]
    assert {run.name for run in RUNS} == set(STORED["runs"])
    assert (HERE / "figures.json.gz").stat().st_size < 600_000
    assert len({run.name for run in all_runs()}) == len(all_runs())


def test_every_figure_has_a_key_of_its_own():
    for result in STORED["runs"].values():
        keys = [key for key, *_ in result["figures"]]
        assert len(keys) == len(set(keys))


def numbers(node, way=()):
    """Yield where the numbers of a report stand, but those of the machine and the day."""
    passing = {"provenance", "seconds", "memory_bytes", "processors", "temporary_bytes", "bytes"}
    if isinstance(node, dict):
        for name, each in node.items():
            yield from () if name in passing else numbers(each, (*way, name))
    elif isinstance(node, list):
        for place, each in enumerate(node):
            yield from numbers(each, (*way, place))
    elif isinstance(node, (int, float)) and not isinstance(node, bool):
        yield way


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "reports").glob("*.json")), ids=lambda path: path.stem
)
def test_no_number_of_a_report_is_passed_over(path):
    report = json.loads(path.read_text("utf-8"))
    known = asdict(extract(report))
    # One of each field: the last row that has it.
    ways = {tuple(step for step in way if isinstance(step, str)): way for way in numbers(report)}

    # What a reason names stands in its row: it is told again, not stated.
    for *way, last in (way for way in ways.values() if "values" not in way):
        other = copy.deepcopy(report)
        inside = other
        for step in way:
            inside = inside[step]
        inside[last] += 1
        assert asdict(extract(other)) != known, [*way, last]


FIRST, SECOND = ["advantage|loss", 0.1, 0.25, None], ["auc|loss", 0.5, 0.6, 0.7]
RESULT = {
    "exit": 1,
    "format": "2",
    "figures": [FIRST, SECOND],
    "verdicts": [["verdict|status", "not_met"]],
    "codes": ["finding:ties"],
    "others": [["bins|place=0", "3"]],
    "files": {"q.csv": "1234"},
}
MOVED = {**RESULT, "figures": [FIRST, ["auc|loss", 0.5, 0.65, 0.7]]}


def difference(*, near=False, **changes):
    found = differences({"run": RESULT}, {"run": {**RESULT, **changes}}, near=near)
    return [str(each) for each in found]


# What a run gives instead, by the field: and the fault that is found.
OTHERWISE = [
    ("exit", 0, "exit: 1 -> 0"),
    ("verdicts", [["verdict|status", "met"]], "verdict verdict|status: not_met -> met"),
    ("verdicts", [], "verdict verdict|status: not_met -> nothing"),
    ("codes", [], "code finding:ties: there -> nothing"),
    ("codes", ["finding:ties"] * 2, "code finding:ties: nothing -> there"),
    ("others", [["bins|place=0", "4"]], "other bins|place=0: 3 -> 4"),
    ("files", {"q.csv": "4"}, "file q.csv: 1234 -> 4"),
    ("figures", [FIRST], "figure auc|loss: 0.5 0.6 0.7 -> nothing"),
    ("figures", [FIRST, SECOND, FIRST], "doubled figure advantage|loss: nothing -> 0.1 0.25 none"),
    (
        "figures",
        [FIRST, SECOND, ["auc|loss#2", 0.5, 0.6, 0.7]],
        "doubled figure auc|loss#2: nothing -> 0.5 0.6 0.7",
    ),
    (
        "figures",
        [FIRST, SECOND, ["eta|loss", None, 0.0, None]],
        "extra figure eta|loss: nothing -> none 0.0 none",
    ),
    (
        "figures",
        [["advantage|loss", 0.1, 0.25000000000000006, None], SECOND],
        "figure advantage|loss: 0.1 0.25 none -> 0.1 0.25000000000000006 none",
    ),
    (
        "figures",
        [["advantage|loss", 0.1, 0.25, 0.9], SECOND],
        "figure advantage|loss: 0.1 0.25 none -> 0.1 0.25 0.9",
    ),
]


@pytest.mark.parametrize(("field", "value", "fault"), OTHERWISE)
def test_a_difference_is_found(field, value, fault):
    assert difference(**{field: value}) == [f"run: {fault}"]


def test_nothing_is_found_where_nothing_differs_but_the_order_or_the_run():
    assert difference() == difference(figures=[SECOND, FIRST]) == []
    # Another format owes no counts and may have more codes.
    codes = ["finding:ties", "limitation:few"]
    assert difference(format="3", others=[], codes=codes) == []
    assert [str(each) for each in differences({"a": RESULT}, {"b": RESULT})] == [
        "a: run: there -> nothing",
        "b: run: nothing -> there",
    ]


@pytest.mark.parametrize(("more", "found"), [(1e-12, 0), (1e-8, 1)])
def test_the_digits_of_another_processor_are_no_difference_to_the_copy(more, found):
    figures = [["advantage|loss", 0.1, 0.25 + more, None], SECOND]
    assert len(difference(near=True, figures=figures)) == found


CHANGE = {
    "run": "run",
    "what": "figure auc|loss",
    "old": "0.5 0.6 0.7",
    "new": "0.5 0.65 0.7",
    "reason": "learner",
}


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ([CHANGE], 0),
        ([], 1),
        ([CHANGE | {"new": "0.5 0.66 0.7"}], 2),
        ([CHANGE, CHANGE | {"what": "figure eta|loss"}], 1),
        ([{"run": "run", "reason": "went"}], 0),
        ([{"run": "other", "reason": "went"}], 2),
        ([{"run": "run", "what": "figure auc|loss", "reason": "went"}], 2),
    ],
)
def test_what_is_meant_is_named_exactly(changes, left):
    assert len(unexpected(differences({"run": RESULT}, {"run": MOVED}), changes)) == left


@pytest.mark.parametrize(("new", "left"), [({**RESULT, "figures": []}, 0), (MOVED, 2)])
def test_a_star_names_what_is_gone_and_nothing_that_changed(new, left):
    star = [{"run": "run", "what": "figure a*", "reason": "went"}]
    assert len(unexpected(differences({"run": RESULT}, {"run": new}), star)) == left


@pytest.mark.parametrize(
    "entry",
    [
        'run = "a"\nwhat = "exit"\nold = "0"\nnew = "1"\nreason = "better"',
        'run = "a"\nwhat = "exit"\nold = "0"\nreason = "learner"',
        'run = "*"\nreason = "went"',
        'run = "a"\nwhy = "x"\nreason = "went"',
    ],
)
def test_an_entry_says_what_and_why(tmp_path, entry):
    path = tmp_path / "changed.toml"
    path.write_text(f"[[change]]\n{entry}\n")

    with pytest.raises(ValueError, match=r"changed\.toml"):
        read_changes(path)
