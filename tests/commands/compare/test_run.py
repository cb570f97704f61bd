"""``compare`` of scores: columns, files matched by key, files apart; names and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.options import CompareOptions, named_input, query_names
from mipaudit.report.forms import brief_report
from tests.fixtures.codes import findings, refused
from tests.fixtures.leaks import table


def scores(*leaks, rows=2000, seed=1):
    return table(*leaks, rows=rows, seed=seed).assign(record_id=np.arange(rows))


def apart(rows=300):
    """Return two tables of the same records, each with one score."""
    whole = scores(1.5, 0.0, rows=rows)
    return [whole[["record_id", "member", name]] for name in ("s0", "s1")]


def pair(members, holdout, rows=3000):
    """Return two scores that are 1 of these shares of the members, and of the holdout records."""
    rng, member = np.random.default_rng(4), np.arange(rows) % 2 == 0
    drawn = rng.random((2, rows)) < np.where(member, *np.c_[members, holdout].T[:, :, None])
    return pd.DataFrame({"member": member, "s0": drawn[0] * 1, "s1": drawn[1] * 1})


@pytest.fixture(scope="module")
def columns():
    return mipaudit.compare(scores(1.5, 0.0), seed=1)


def test_the_leaky_column_certainly_leaks_more(columns):
    first, last = columns.ranking
    assert (first.query, last.query, first.leaks_more_than) == ("s0", "s1", ("s1",))
    assert (first.highest_place, first.lowest_place) == (1, 1)
    assert columns.verdict.status == "no_policy"
    classes = {"thresholds", "intervals-1", "intervals-4", "bins-16"}
    assert {one.attackers for one in columns.differences} == classes
    for one in columns.differences:
        assert (one.score, one.versus) == ("s0", "s1")
        assert one.lower <= 0.5467 <= one.upper  # 2 Phi(0.75) - 1
        assert one.lower <= one.value <= one.upper
    honest, naive = columns.best_of
    assert (honest.validity, naive.validity) == ("approximate", "not-an-interval")
    assert 0.4 < honest.lower < 0.55


def test_threads_and_files_matched_by_key_change_nothing(columns):
    whole = scores(1.5, 0.0)
    assert mipaudit.compare(whole, seed=1, jobs=1).differences == columns.differences
    first, second = apart(2000)
    second = second.sample(frac=1, random_state=3)
    report = mipaudit.compare(first, second, key_col="record_id", seed=1)
    assert (report.design.apart, report.findings) == ("same-rows", ())
    assert {one.rows for one in report.design.queries} == {1}
    for one, other in zip(report.differences, columns.differences, strict=True):
        assert one.lower == pytest.approx(other.lower, abs=0.05)
    fewer = mipaudit.compare(first, second[second.record_id < 1500], key_col="record_id")
    for words in ("500 rows", "Compared: 1,500"):
        assert words in findings(fewer)["unmatched_rows"]
    assert {one.n_members + one.n_holdout for one in fewer.design.queries} == {1500}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda one: {"member": ~one.member}, "membership_differs", ""),
        (lambda one: {"record_id": one.record_id + 10_000}, "no_matching_keys", ""),
        (lambda one: {"record_id": one.record_id // 4}, "repeated_keys", ""),
        *(
            (
                lambda one, member=member: {
                    "record_id": one.record_id + 10_000 * (one.member != member)
                },
                "no_matching_keys",
                f"all {'members' if member else 'holdout'}",
            )
            for member in (True, False)
        ),
    ],
)
def test_what_cannot_be_matched(change, code, words):
    first, second = apart()
    second = second.assign(**change(second))
    refused(code, mipaudit.compare, first, second, key_col="record_id", says=words)


def test_files_apart_have_wider_limits_unless_they_are_independent():
    given, widths = (scores(1.0), scores(0.2, rows=1200, seed=2)), []
    for independent in (False, True):
        report = mipaudit.compare(*given, independent=independent)
        assert report.design.apart == ("independent" if independent else "unknown")
        widths.append([row.upper - row.lower for row in report.differences])
        assert not report.together
        assert not report.best_of
        first = report.differences[0]
        assert first.score == "input 1"
        assert first.lower <= 0.3829 - 0.0797 <= first.upper
    assert all(b < a for a, b in zip(*widths, strict=True))


def test_discrete_scores_are_compared_for_any_attacker():
    report = mipaudit.compare(pair((0.7, 0.55), (0.3, 0.45)))
    first = report.differences[0]
    assert report.design.against == first.attackers == "any"
    assert 0.1 < first.lower <= 0.3 <= first.upper < 0.45


def test_a_baseline_leaves_only_pairs_with_it(columns):
    report = mipaudit.compare(scores(1.0, 0.5, 0.0, rows=600), baseline="s2")
    assert report.design.pairs == 2
    assert {one.versus for one in report.differences} == {"s2"}
    worst = mipaudit.compare(scores(0.0, 0.9, 1.8), baseline="s0", max_increase=0.05)
    assert [one.score for one in worst.policy] == ["s2", "s1"]
    assert worst.verdict.reasons[0].get("query") == "s2"
    assert "place" not in brief_report(worst, width=100)
    assert "place" in brief_report(mipaudit.compare(scores(0.0, 0.9)), width=100)
    limited = mipaudit.compare(scores(1.5, 0.0), baseline="s1", max_increase=0.55)
    (check,) = limited.policy
    assert (check.score, check.versus, check.against) == ("s0", "s1", "thresholds")
    assert check.status == limited.verdict.status == "inconclusive"


def test_other_priors_have_their_own_range():
    report = mipaudit.compare(scores(1.5, 0.0, rows=4000), prior=0.1)
    assert report.design.trivial == pytest.approx(0.8)
    assert all(-0.2 <= one.lower <= one.upper <= 0.2 for one in report.differences)


def test_a_query_in_arrays_or_in_a_constant_column_is_compared():
    rng = np.random.default_rng(3)
    members = rng.standard_normal((500, 2)) + np.array([1.5, 0.0])
    report = mipaudit.compare(members=members, holdout=rng.standard_normal((400, 2)))
    assert report.ranking[0].query == "score_0"
    steady = mipaudit.compare(scores(1.5, 0.0, rows=600).assign(s2=1.0), jobs=1)
    assert {*findings(steady)} >= {"constant_column", "not_seen_together"}
    assert steady.ranking[-1].value == pytest.approx(0.0)
    assert len(steady.together) == 1
    text = findings(steady)["not_seen_together"]
    assert text.startswith("2 pairs")
    assert "constant" in text
    assert "--baseline" not in text
    many = mipaudit.compare(scores(1.0, *[0.0] * 5, rows=300), jobs=1)
    assert not many.together
    assert findings(many)["not_seen_together"].startswith("No two scores of the same rows")


@pytest.mark.parametrize("independent", [False, True])
def test_a_constant_query_in_a_file_of_its_own_is_compared(independent):
    # A gate must not break because the new release leaks nothing.
    silent = scores(0.0, rows=800).assign(s0=1.0)
    asked = {"independent": independent, "baseline": "input 1", "max_increase": 0.1}
    report = mipaudit.compare(scores(1.5, rows=800), silent, **asked)
    assert report.verdict.status == "met"
    assert "constant_column" in findings(report)
    assert report.ranking[-1].query == "input 2"
    refused("constant_scores", mipaudit.compare, silent, silent.copy())
    refused("constant_scores", mipaudit.compare, silent.assign(s1=2.0))


def test_independent_needs_inputs_of_different_records(tmp_path):
    whole = scores(1.5, 0.0, rows=300)
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    scores(1.0, rows=300).to_csv(first, index=False)
    second.write_bytes(first.read_bytes())
    one = whole[["member", "s0"]]
    for inputs, more in (
        ((whole,), {}),
        ((), {"members": [[1.0, 2.0]] * 50, "holdout": [[0.0, 1.0]] * 50}),
        ((whole, scores(1.5, 0.0, rows=300, seed=2)), {"key_col": "record_id"}),
        ((one, one), {}),
        ((f"old={first}", f"new={first.parent}/./a.csv"), {}),
        ((first, second), {}),
    ):
        refused("independent", mipaudit.compare, *inputs, independent=True, **more)
    assert mipaudit.compare(first, second).design.apart == "unknown"


SCORES = ("a.csv", "b.csv")
FLAGS = dict.fromkeys(("discrete", "independent"), True)
NUMBERS = {"prior": 0.3, "confidence": 0.9, "seed": 3}
OF_SCORES = (
    FLAGS | NUMBERS | {"nan": "drop", "score_col": ["loss"], "key_col": "id", "where": "a=b"}
)


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        *(
            ({"scores": ("old.json", "new.json"), name: value}, name, "does not apply to reports")
            for name, value in OF_SCORES.items()
        ),
        ({"scores": SCORES, "against": "learned"}, "against", ""),
        ({"scores": SCORES, "max_increase": 0.1}, "max_increase", ""),
        (
            {"scores": SCORES[:1], "max_increase": 0.5, "baseline": "x", "prior": 0.9},
            "max_increase",
            "",
        ),
        ({"scores": ("a.csv", "b.json")}, "mixed_inputs", "reports (.json)"),
        ({"scores": ("b.json",), "members": "m.csv"}, "mixed_inputs", ""),
        ({"scores": ("-", "-")}, "two_stdin", ""),
        ({"scores": ("a.csv",), "holdout": "h.csv"}, "two_inputs", ""),
        ({"members": "m.csv"}, "no_input", ""),
    ],
)
def test_what_does_not_go_together_is_refused(given, code, words):
    refused(code, CompareOptions, says=words, **given)


@pytest.mark.parametrize(
    ("keywords", "code"),
    [
        ({"max_increase": 1.5, "baseline": "s0"}, "max_increase"),
        ({"baseline": "nobody"}, "baseline"),
        ({"against": "nobody"}, "against"),
        ({"against": "any"}, "against"),
        ({"score_col": "s0"}, "one_query"),
        ({"score_col": ["s0", "answer"]}, "against"),  # labels have no thresholds
        ({"score_col": [f"s{at}" for at in range(13)]}, "too_many_queries"),
    ],
)
def test_a_wrong_setting_is_named(keywords, code):
    data = scores(*[0.0] * 13, rows=200).assign(answer=["yes", "no", "no", "yes"] * 50)
    few = data[["member", "s0", "s1", "answer"]]
    refused(
        code,
        mipaudit.compare,
        data if len(keywords.get("score_col", "")) > 9 else few,
        **{"score_col": ["s0", "s1"], **keywords},
    )


def test_inputs_and_queries_have_names():
    for given, name, data in (
        ("dir/a.csv.gz", "a", "dir/a.csv.gz"),
        ("new=dir/a.parquet", "new", "dir/a.parquet"),
        ("dir/x=1/a.parquet", "a", "dir/x=1/a.parquet"),
        ("dir/report.json", "report", "dir/report.json"),
        ("old=report.json", "old", "report.json"),
    ):
        found = named_input(given, 1)
        assert (found.name, found.data) == (name, data)
    assert named_input(object(), 3).name == "input 3"
    assert query_names([("a", ["x", "y"])]) == [["x", "y"]]
    assert query_names([("a", ["x"]), ("b", ["x", "y"])]) == [["a"], ["b:x", "b:y"]]
    refused("same_names", query_names, [("a", ["x"]), ("a", ["x"])])
    asked = CompareOptions(scores=("old=a.csv", "dir/b.csv"))
    assert [one.name for one in asked.named_scores] == ["old", "b"]
    assert {"a.csv", "dir/b.csv"} <= set(asked.inputs())
    judged = {"max_increase": 0.1, "against": "learned", "hash_inputs": True, "prior": 0.5}
    assert CompareOptions(scores=("old.json", "new.json"), jobs=2, **judged).of_reports


# As it is typed.


@pytest.fixture
def files(tmp_path):
    """Write scores of two queries together and apart, and reports of which the new leaks."""
    whole = scores(1.5, 0.0).rename(columns={"s0": "strong", "s1": "weak"})
    whole.astype({"member": int}).to_csv(tmp_path / "scores.csv", index=False)
    for name in ("strong", "weak"):
        one = whole[["record_id", "member", name]].rename(columns={name: "score"})
        one.to_csv(tmp_path / f"{name}.csv", index=False)
    for name, leak in (("old", 0.0), ("new", 2.5)):
        report = mipaudit.estimate(table(leak, 0.5, rows=1000, seed=len(name) + int(leak)))
        (tmp_path / f"{name}.json").write_bytes(mipaudit.to_json(report))
    (tmp_path / "broken.json").write_text('{"schema": "mipaudit.report/3", "command": "estimate"}')
    return tmp_path


def test_comparisons_are_shown_and_judged(mipaudit, files):
    matched = mipaudit("compare", "new=strong.csv", "old=weak.csv", "--key-col", "record_id")
    for run in (matched, mipaudit("compare", "old.json", "new.json")):
        assert (run.returncode, run.stderr) == (0, "")
        assert "No limit was given: no verdict." in " ".join(run.stdout.split())
    assert matched.stdout.startswith("'new' leaks at least ")
    assert "new - old" in matched.stdout
    judged = ("compare", "was=old.json", "is=new.json", "--max-increase", "0.1")
    narrow = mipaudit(*judged, env={"COLUMNS": "80"})
    assert (narrow.returncode, max(map(len, narrow.stdout.splitlines())) <= 80) == (1, True)
    assert narrow.stdout.startswith("NOT MET in 1 of 2 checks (1 inconclusive): ")
    assert "the new report less 'was'" in narrow.stdout
    assert mipaudit(*judged, "--exit-zero").returncode == 0
    found = mipaudit(*judged, "-f", "junit").stdout
    for words in ('failures="2"', 'type="not_met"', 'type="inconclusive"'):
        assert words in found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("old.json", "broken.json"), "'broken'"),
        (("old.json", "nowhere.json"), "'nowhere'"),
        (("a=strong.csv", "b=weak.csv", "-o", "weak.csv"), "weak.csv"),
        (("old.json", "n=new.json", "-o", "new.json"), "new.json"),
    ],
)
def test_an_error_says_which_input_and_writes_over_none(mipaudit, files, given, words):
    before = {path: path.read_bytes() for path in files.iterdir()}
    run = mipaudit("compare", *given)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_no_value_of_the_data_is_printed(mipaudit, files):
    run = mipaudit("compare", "scores.csv", "-f", "json")
    assert run.returncode == 0
    values = pd.read_csv(files / "scores.csv", dtype=str)[["strong", "weak"]][:50]
    assert not [value for value in values.to_numpy().ravel() if value in run.stdout]
