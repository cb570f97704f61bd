"""Counts of parts add up to the counts of the whole, and the limits hold."""

from __future__ import annotations

import json
import math
import re

import msgspec
import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.data.summary_source import counts_of, cuts_of
from mipaudit.report.messages.told import told
from mipaudit.summaries.counts import sum_of
from mipaudit.summaries.sites import enough_rows, shared_plan
from tests.fixtures.codes import refused


def document(report):
    found = json.loads(mipaudit.to_json(report))
    found.pop("provenance")
    return found


def frame(members, holdout):
    member = np.arange(members.size + holdout.size) < members.size
    return pd.DataFrame({"member": member, "score": np.r_[members, holdout]})


@pytest.fixture(scope="module")
def scores():
    generator = np.random.default_rng(1)
    return generator.normal(0.5, 1, 6_000), generator.normal(0, 1, 6_000)


def parts(scores, count):
    """Return the parts of an input with a name for each."""
    members, holdout = scores
    table = frame(members, holdout).sample(frac=1, random_state=0).reset_index(drop=True)
    size = math.ceil(len(table) / count)
    starts = range(0, len(table), size)
    return [(table.iloc[at : at + size], f"part {n}") for n, at in enumerate(starts)]


def summarized(sites, **given):
    """Return the cuts and the counts of sites, each called by its place."""
    made = {"cuts_only": True, **given}
    cuts = [mipaudit.summarize(site=f"{at}", **one, **made) for at, one in enumerate(sites)]
    found = [
        mipaudit.summarize(site=f"{at}", **one, cuts=cuts, **given) for at, one in enumerate(sites)
    ]
    return cuts, found


@pytest.mark.parametrize("count", [1, 2, 5])
def test_parts_add_up_to_the_whole(scores, count):
    cuts = [mipaudit.summarize(p, site=name, cuts_only=True) for p, name in parts(scores, count)]
    found = [mipaudit.summarize(p, site=name, cuts=cuts[::-1]) for p, name in parts(scores, count)]
    edges = shared_plan([cuts_of(one) for one in cuts], prior=0.5).columns[0].cells.edges
    total = sum_of([counts_of(one) for one in found]).columns[0].everyone
    for side, rows in zip((total.members, total.holdout), scores, strict=True):
        whole = np.bincount(np.searchsorted(edges, rows, side="left"), minlength=edges.size + 1)
        assert (side == whole).all()
    together = mipaudit.estimate(found)
    assert together.design.n_members == together.design.n_holdout == 6_000
    assert document(mipaudit.estimate(found[::-1]))["estimates"] == document(together)["estimates"]


def test_the_figures_are_close_to_those_from_scores(scores):
    members, holdout = scores
    direct = mipaudit.estimate(members=members, holdout=holdout)
    counted = mipaudit.estimate(mipaudit.summarize(members=members, holdout=holdout, seed=4))
    by_row = {(e.quantity, e.attackers, e.fpr): e for e in counted.estimates}
    for row in direct.estimates:
        other = by_row[row.quantity, row.attackers, row.fpr]
        if row.lower is not None:
            assert other.lower == pytest.approx(row.lower, abs=0.02)
        if row.upper is not None:
            assert other.upper == pytest.approx(row.upper, abs=0.03)
    assert "from_summaries" in {one.code for one in counted.findings}


def test_sums_do_not_depend_on_threads(scores):
    ((whole, _),) = parts(scores, 1)
    files = [mipaudit.summarize(whole, jobs=jobs, seed=4) for jobs in (1, 3)]
    one, two = (file.arrays for file in files)
    assert all(np.array_equal(one[name], two[name]) for name in one)


def misses(law, upper_of, *, files, seed):
    """Return how often the lower and the upper limit miss the truth over simulated sites."""
    generator = np.random.default_rng(seed)
    low = high = 0
    for _ in range(files):
        truth, sites = law(generator)
        _, counted = summarized([{"members": m, "holdout": h} for m, h in sites])
        report = mipaudit.estimate(counted)
        rows = {row.attackers: row for row in report.estimates if row.quantity == "advantage"}
        low += rows["any"].lower > truth
        high += rows[upper_of].upper < truth
    return low, high


def null(generator):
    return 0.0, [generator.normal(size=(2, 400)), generator.normal(3, 1, size=(2, 150))]


def shifted(generator):
    """Sites with one law: members are moved by 1/2, so that one threshold is best."""
    sites = [(generator.normal(0.5, 1, n), generator.normal(0, 1, n)) for n in (500, 300)]
    return math.erf(0.25 / math.sqrt(2)), sites


@pytest.mark.parametrize("law", [null, shifted])
def test_the_limits_hold_over_sites(law):
    files = 120
    low, high = misses(law, "thresholds", files=files, seed=11)
    allowed = files * 0.025 + 3 * math.sqrt(files * 0.025 * 0.975)
    assert low <= allowed
    assert high <= allowed


def test_a_summary_for_a_secure_room_has_no_small_count(scores):
    members, holdout = np.random.default_rng(4).normal(size=(2, 60_000))
    file = mipaudit.summarize(members=members + 0.5, holdout=holdout, min_cell=10)
    for name in ("0/blocks", "0/steps"):
        counts = file.arrays[name]
        assert counts[counts > 0].min() >= 10
    report = mipaudit.estimate(file)
    assert report.estimates[0].lower > 0.1


@pytest.mark.parametrize("cuts_only", [False, True])
@pytest.mark.parametrize("least", [2, 10])
def test_a_room_with_too_few_rows_is_told_when_cuts_are_made(least, cuts_only):
    """And with the number that is enough, for members one standard deviation away."""
    enough = enough_rows(least)
    given = {"min_cell": least, "cuts_only": cuts_only, "site": "a"}
    for rows in (300, 3_000, int(0.6 * enough)):
        members, holdout = np.random.default_rng(rows).normal(size=(2, rows))
        classes = {"members": members + 1, "holdout": holdout}
        error = refused("too_few_rows", mipaudit.summarize, **classes, **given)
        assert f"At every site {enough:,} members" in str(error)
    members, holdout = np.random.default_rng(4).normal(size=(2, enough))
    mipaudit.summarize(members=members + 1, holdout=holdout, **given)


def test_few_left_out_rows_are_told_neither_aloud_nor_by_subtraction():
    table = frame(*np.random.default_rng(5).normal(size=(2, 30_000)))
    table.loc[[3, 40, 50_000], "score"] = np.nan
    plain = mipaudit.summarize(table, nan="drop")
    assert "2 members" in told(plain.manifest.findings[0])
    for cuts_only in (False, True):
        given = {"site": "a", "cuts_only": cuts_only}
        made = mipaudit.summarize(table, nan="drop", min_cell=10, **given).manifest
        assert [one.code for one in made.findings] == ["nan_dropped"]
        assert not re.search(r"\d", "".join(map(told, made.findings)))
        assert made.n_members + made.n_holdout == 59_997
        assert [one.rows for one in made.inputs] == [0]
        assert "60000" not in json.dumps(msgspec.to_builtins(made))


def test_infinite_scores_are_not_told_by_subtraction():
    members, holdout = np.random.default_rng(6).normal(size=(2, 30_000))
    members[:3_002] = holdout[:3_000] = np.inf
    holdout[-3:] = -np.inf
    made = mipaudit.summarize(members=members, holdout=holdout, min_cell=10)
    assert made.manifest.scores[0].infinite == 6_000


@pytest.mark.parametrize("cuts_only", [False, True])
def test_a_class_of_few_records_does_not_leave_a_secure_room(scores, cuts_only):
    refused(
        "too_few_rows",
        mipaudit.summarize,
        members=scores[0][:9],
        holdout=scores[1],
        min_cell=10,
        cuts_only=cuts_only,
        site="a",
    )


@pytest.mark.filterwarnings("error")
def test_cuts_of_one_class_only_will_do(scores):
    table = frame(scores[0], scores[1][:0])
    given = {"member_value": "true", "site": "a"}
    cuts = mipaudit.summarize(table, cuts_only=True, **given)
    made = mipaudit.summarize(table, cuts=cuts, **given)
    assert made.manifest.n_members == 6_000
    assert made.arrays["0/single"].size > 100


def test_another_key_of_the_same_file_is_refused(tmp_path):
    table = keyed(500, 0).assign(other=range(1_000, 2_000))
    table.to_csv(tmp_path / "a.csv", index=False)
    given = {"data": str(tmp_path / "a.csv"), "score_col": ["score"], "site": "a"}
    cuts = mipaudit.summarize(**given, key_col="key", cuts_only=True)
    mipaudit.summarize(**given, key_col="key", cuts=cuts)
    refused("moved_rows", mipaudit.summarize, **given, key_col="other", cuts=cuts)


def test_a_site_may_have_one_class_only(scores):
    members, holdout = scores
    sites = [frame(members, holdout[:0]), frame(members[:0], holdout)]
    _, found = summarized([{"data": one} for one in sites], member_value="true")
    assert mipaudit.estimate(found).estimates[0].lower > 0.1
    refused("empty_class", mipaudit.estimate, found[0])


def keyed(count, first):
    generator = np.random.default_rng(first)
    table = frame(generator.normal(1, 1, count), generator.normal(0, 1, count))
    return table.assign(key=[f"r{first + at}" for at in range(2 * count)])


def test_keys_tell_rows_apart_instead_of_positions():
    sites = [keyed(1_000, 0), keyed(800, 10_000)]
    _, found = summarized([{"data": one} for one in sites], key_col="key")
    assert found[0].manifest.keyed
    report = mipaudit.estimate(found)
    assert report.estimates[0].lower > 0.2
    origin = next(one for one in report.findings if one.code == "from_summaries")
    assert "nobody checked" in told(origin)
    refused("repeated_keys", mipaudit.summarize, sites[0].assign(key="x"), key_col="key")


def seeds_of(*files):
    return [one.manifest.seed for one in files]


def test_every_site_draws_its_own_seed_and_counts_with_it(scores):
    given = [{"data": part} for part, _ in parts(scores, 3)]
    cuts, found = summarized(given)
    assert len(set(seeds_of(*cuts))) == 3
    assert seeds_of(*found) == seeds_of(*cuts)
    again = mipaudit.summarize(**given[0], cuts_only=True, site="0")
    assert again.manifest.seed != cuts[0].manifest.seed
    fresh = mipaudit.summarize(**given[0], cuts_only=True, seed="fresh", site="0")
    assert fresh.manifest.seed not in seeds_of(*cuts, again)


def test_cuts_of_another_draw_make_another_plan(scores):
    """Counts by the cuts of another draw would judge rows that trained."""
    ((whole, _),) = parts(scores, 1)
    files = [
        mipaudit.summarize(
            whole, cuts=mipaudit.summarize(whole, cuts_only=True, seed=seed, site="a"), site="a"
        )
        for seed in (1, 1, 2)
    ]
    plans = [one.manifest.plan for one in files]
    assert plans[0] == plans[1] != plans[2]


def test_a_stated_seed_is_never_used_bare_and_is_told(scores):
    ((whole, _),) = parts(scores, 1)
    cuts = mipaudit.summarize(whole, cuts_only=True, seed=7, site="a")
    elsewhere = mipaudit.summarize(whole, cuts_only=True, seed=7, site="b")
    assert len({7, *seeds_of(cuts, elsewhere)}) == 3
    # Nothing of the rows is in it: cuts must not confirm a guess of a record.
    reordered = mipaudit.summarize(whole.iloc[::-1], cuts_only=True, seed=7, site="a")
    assert seeds_of(reordered) == seeds_of(cuts)
    for more in ({}, {"seed": 7}):
        counted = mipaudit.summarize(whole, cuts=cuts, site="A", **more)
        report = mipaudit.estimate(counted)
        assert "stated_seed" in {one.code for one in report.findings}
    told = mipaudit.estimate(mipaudit.summarize(whole)).findings
    assert "stated_seed" not in {one.code for one in told}
    refused("seed", mipaudit.summarize, whole, cuts=cuts, seed=8, site="a")


CHANGES = {
    "another order": lambda one: one.iloc[::-1],
    "one row less": lambda one: one.iloc[1:],
    "one class turned round": lambda one: one.assign(
        score=np.r_[one.score[:900], one.score[900:][::-1]]
    ),
    "other rows": lambda one: keyed(900, 30_000),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_only_the_rows_of_its_cuts_are_counted_as_a_site_s(change):
    """Others would train and be judged; what they are is told by making the cuts again."""
    sites = [keyed(900, 0), keyed(900, 10_000)]
    given = {"score_col": ["score"], "member_col": "member"}
    cuts, found = summarized([{"data": one} for one in sites], **given)
    assert seeds_of(*found) == seeds_of(*cuts)
    wrong = change(sites[0]).reset_index(drop=True)
    refused("moved_rows", mipaudit.summarize, wrong, site="0", cuts=cuts, **given)
    # By their keys rows are the same in any order.
    keys = {"key_col": "key"}
    cuts, _ = summarized([{"data": one} for one in sites], **keys)
    again = mipaudit.summarize(sites[0].iloc[::-1], site="0", cuts=cuts, **keys)
    assert seeds_of(again) == seeds_of(cuts[0])


def test_a_site_counts_beside_its_own_cuts_alone(scores):
    (one, _), (other, _) = parts(scores, 2)
    cuts = mipaudit.summarize(one, site="north", cuts_only=True)
    mipaudit.summarize(one, site=" NORTH ", cuts=cuts)
    for name in ("south", "nord"):
        error = refused("whose_cuts", mipaudit.summarize, other, site=name, cuts=cuts)
        assert "'north'" in str(error)
    refused("site", mipaudit.summarize, other, cuts=cuts)
    refused("site", mipaudit.summarize, other, cuts_only=True)


def test_two_sites_of_one_name_are_refused(scores):
    first, second = (part for part, _ in parts(scores, 2))
    cuts = [
        mipaudit.summarize(part, site=name, cuts_only=True)
        for part, name in ((first, "North"), (second, "north"))
    ]
    refused("same_site", mipaudit.summarize, first, site="north", cuts=cuts)
    _, found = summarized([{"data": first}, {"data": second}])
    refused("same_site", mipaudit.estimate, [*found, found[0]])


@pytest.mark.parametrize("turn", [lambda one: one, lambda one: one.iloc[::-1]])
def test_the_same_rows_under_two_names_are_refused(scores, turn):
    ((whole, _),) = parts(scores, 1)
    _, found = summarized([{"data": whole}, {"data": turn(whole).reset_index(drop=True)}])
    assert "same rows" in str(refused("same_rows", mipaudit.estimate, found))


def test_small_parts_may_look_alike():
    """Ten records each of two values: that all counts agree is chance."""
    table = frame(np.arange(10) % 2 == 0, np.arange(10) % 2 == 1)
    sites = [table, table.iloc[::-1].reset_index(drop=True)] * 2
    _, found = summarized([{"data": one} for one in sites])
    assert mipaudit.estimate(found).design.n_members == 40


def test_people_of_a_site_are_stood_for_alike_in_cuts_and_counts():
    table = keyed(1_500, 0).assign(person=[f"p{at // 3}" for at in range(3_000)])
    given = {"unit_col": "person", "score_col": ["score"], "site": "a"}
    cuts = mipaudit.summarize(table, cuts_only=True, **given)
    found = mipaudit.summarize(table, cuts=cuts, **given)
    assert seeds_of(found) == seeds_of(cuts)
    assert found.manifest.n_members == cuts.manifest.n_members == 500


def order_for(seed, rows, chosen):
    """Return an order of rows that puts the chosen ones where the seed only trains."""
    from mipaudit.summaries.rows import micro_blocks, position_bytes

    trains = micro_blocks(position_bytes(seed, 0, rows)) < 7
    places = np.r_[np.flatnonzero(trains), np.flatnonzero(~trains)]
    order = np.empty(rows, dtype=int)
    order[places] = np.r_[chosen, np.setdiff1d(np.arange(rows), chosen)]
    return order


def test_the_order_of_a_site_s_rows_hides_nothing(monkeypatch):
    """One in ten members has a value of its own: an order for a public seed hid them all."""
    rows = 20_000
    member = np.arange(rows) < rows // 2
    values = np.random.default_rng(0).integers(0, 6, rows)
    chosen = np.arange(rows // 20)
    values[chosen] = 6
    table = frame(values[member].astype(int), values[~member].astype(int))
    table = table.iloc[order_for(0, rows, chosen)].reset_index(drop=True)
    lowest = [
        mipaudit.estimate(mipaudit.summarize(table, seed=seed)).estimates[0].lower
        for seed in (None, 0, 1)
    ]
    assert min(lowest) > 0.08
    monkeypatch.setattr("mipaudit.commands.summarize.run.drawn_seed", lambda *_: 0)
    assert mipaudit.estimate(mipaudit.summarize(table)).estimates[0].lower < 0.02


def test_what_does_not_belong_together_is_refused(scores):
    members, holdout = scores
    pair = {"members": members, "holdout": holdout}
    one = mipaudit.summarize(**pair)
    for code, more in {
        "summaries_differ": ({}, {"prior": 0.3}, {"members": members + 1}),
        "cuts_not_counts": ({"cuts_only": True, "site": "b"},),
    }.items():
        for given in more:
            other = mipaudit.summarize(**{**pair, **given})
            refused(code, mipaudit.estimate, [one, other])
    refused("counts_not_cuts", mipaudit.summarize, **pair, cuts=[one], site="a")


def test_the_same_file_is_not_counted_twice(scores, tmp_path):
    path = tmp_path / "a.parquet"
    frame(*scores).to_parquet(path)
    cuts = [mipaudit.summarize(str(path), site=name, cuts_only=True) for name in "ab"]
    refused("same_rows", mipaudit.summarize, str(path), site="a", cuts=cuts)


NOT_FOR_SUMMARIES = [{"method": "kde"}, {"method": "mace"}, {"discrete": True}, {"nan": "drop"}]
NOT_FOR_SUMMARIES += [{"score_col": ["score"]}, {"where": "a = 1"}]


def test_settings_that_make_no_sense_are_refused(scores):
    pair = dict(zip(("members", "holdout"), scores, strict=True))
    cuts = mipaudit.summarize(**pair, site="a", cuts_only=True)
    refused("cuts_only", mipaudit.summarize, **pair, site="a", cuts=cuts, cuts_only=True)
    refused("min_cell", mipaudit.summarize, **pair, site="a", cuts=cuts, min_cell=10)
    for name in ("", " ", "a/b", "-a", "a\nb", "x" * 41, 3):
        refused("site", mipaudit.summarize, **pair, site=name)
    for seed in (-1, "new", 1.5):
        refused("seed", mipaudit.summarize, **pair, site="a", seed=seed)
    summary = mipaudit.summarize(**pair)
    for more in (*NOT_FOR_SUMMARIES, pair):
        refused("not_for_summaries", mipaudit.estimate, summary, **more)
    refused("mixed_inputs", mipaudit.estimate, [summary, "scores.csv"])


def test_several_parts_are_one_input_in_order_of_their_names(scores, tmp_path):
    ((whole, _),) = parts(scores, 1)
    half = len(whole) // 2
    paths = [str(tmp_path / name) for name in ("b.parquet", "a.parquet")]
    whole.iloc[half:].to_parquet(paths[0])
    whole.iloc[:half].to_parquet(paths[1])
    several, glob = mipaudit.estimate(paths), mipaudit.estimate(str(tmp_path / "*.parquet"))
    assert document(several) == document(glob)
    assert [one.name.endswith("a.parquet") for one in several.provenance.inputs] == [True, False]
    refused("stdin_and_files", mipaudit.estimate, [*paths, "-"])


def test_many_scores_still_make_a_small_file():
    generator = np.random.default_rng(2)
    members, holdout = generator.normal(size=(2, 20_000, 30))
    file = mipaudit.summarize(members=members, holdout=holdout)
    assert len(file.to_bytes()) < 10 << 20
    report = mipaudit.estimate(file)
    assert len({row.score for row in report.estimates}) == 30


@pytest.mark.parametrize("later", [{}, {"discrete": True}])
def test_scores_that_cuts_took_as_discrete_are_counted_so(later):
    generator = np.random.default_rng(3)
    table = frame(generator.integers(0, 200, 900) / 7, generator.integers(0, 200, 900) / 7)
    cuts = mipaudit.summarize(table, site="a", cuts_only=True, discrete=True)
    plain = mipaudit.summarize(table, site="a", cuts_only=True)
    assert not np.array_equal(plain.arrays["0/edges"], cuts.arrays["0/edges"])
    assert mipaudit.summarize(table, site="a", cuts=cuts, **later).manifest.n_members == 900
