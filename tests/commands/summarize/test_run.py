"""Counts of parts add up to the counts of the whole, and the limits hold."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.summaries.source import counts_of


def document(report):
    found = json.loads(mipaudit.to_json(report))
    found.pop("provenance")
    return found


def frame(members, holdout, **more):
    import pandas as pd

    scores = np.r_[members, holdout]
    member = np.arange(scores.size) < members.size
    return pd.DataFrame({"member": member, "score": scores, **more})


@pytest.fixture(scope="module")
def scores():
    generator = np.random.default_rng(1)
    return generator.normal(0.5, 1, 6_000), generator.normal(0, 1, 6_000)


def parts(scores, count):
    """Return the parts of an input with the position of each one's first row."""
    members, holdout = scores
    table = frame(members, holdout).sample(frac=1, random_state=0).reset_index(drop=True)
    size = math.ceil(len(table) / count)
    return [(table.iloc[at : at + size], at) for at in range(0, len(table), size)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_parts_add_up_to_the_whole_to_the_last_bit(scores, count):
    ((whole, _),) = parts(scores, 1)
    cuts = [mipaudit.summarize(p, first_row=at, cuts_only=True) for p, at in parts(scores, count)]
    found = [mipaudit.summarize(p, first_row=at, cuts=cuts[::-1]) for p, at in parts(scores, count)]
    alone = mipaudit.summarize(whole, cuts=cuts)
    total, once = [counts_of(one) for one in found], counts_of(alone)
    assert (sum(one.columns[0].blocks for one in total) == once.columns[0].blocks).all()
    together, single = mipaudit.estimate(found), mipaudit.estimate([alone])
    for report in (together, single):
        assert report.design.n_members == report.design.n_holdout == 6_000
    one, other = document(together), document(single)
    for name in ("estimates", "verdict", "design"):
        assert one[name] == other[name]
    assert document(mipaudit.estimate(found[::-1]))["estimates"] == one["estimates"]


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
        cuts = [
            mipaudit.summarize(members=m, holdout=h, first_row=at * 10**6, cuts_only=True)
            for at, (m, h) in enumerate(sites)
        ]
        counted = [
            mipaudit.summarize(members=m, holdout=h, first_row=at * 10**6, cuts=cuts)
            for at, (m, h) in enumerate(sites)
        ]
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


def test_a_room_with_too_few_rows_is_told(scores):
    for count in (300, 3_000):
        with pytest.raises(InputError) as caught:
            mipaudit.summarize(members=scores[0][:count], holdout=scores[1][:count], min_cell=10)
        assert caught.value.code == "too_few_rows"


def test_few_left_out_rows_are_not_counted_aloud():
    table = frame(*np.random.default_rng(5).normal(size=(2, 60_000)))
    table.loc[3, "score"] = np.nan
    told = mipaudit.summarize(table, nan="drop")
    hushed = mipaudit.summarize(table, nan="drop", min_cell=10)
    assert "1 members" in told.manifest.findings[0].text
    assert [one.code for one in hushed.manifest.findings] == ["nan_dropped"]
    assert "1" not in hushed.manifest.findings[0].text


def test_few_left_out_rows_are_not_told_by_subtraction():
    table = frame(*np.random.default_rng(5).normal(size=(2, 30_000)))
    table.loc[[3, 40, 50_000], "score"] = np.nan
    for cuts_only in (False, True):
        made = mipaudit.summarize(table, nan="drop", min_cell=10, cuts_only=cuts_only).manifest
        assert made.extents[0].rows - made.n_members - made.n_holdout == 10
        assert [one.rows for one in made.inputs] == [0]


def test_infinite_scores_are_not_told_by_subtraction():
    members, holdout = np.random.default_rng(6).normal(size=(2, 30_000))
    members[:3_002] = holdout[:3_000] = np.inf
    holdout[-3:] = -np.inf
    made = mipaudit.summarize(members=members, holdout=holdout, min_cell=10)
    assert made.manifest.scores[0].infinite == 6_000


@pytest.mark.parametrize("cuts_only", [False, True])
def test_a_class_of_few_records_does_not_leave_a_secure_room(scores, cuts_only):
    with pytest.raises(InputError) as caught:
        mipaudit.summarize(
            members=scores[0][:9], holdout=scores[1], min_cell=10, cuts_only=cuts_only
        )
    assert caught.value.code == "too_few_rows"


@pytest.mark.filterwarnings("error")
def test_cuts_of_one_class_only_will_do(scores):
    table = frame(scores[0], scores[1][:0])
    cuts = mipaudit.summarize(table, cuts_only=True, member_value="true")
    made = mipaudit.summarize(table, cuts=cuts, member_value="true")
    assert made.manifest.n_members == 6_000
    assert made.arrays["0/single"].size > 100


def test_another_key_of_the_same_file_is_refused(tmp_path):
    table = keyed(500, 0).assign(other=range(1_000, 2_000))
    table.to_csv(tmp_path / "a.csv", index=False)
    given = {"data": str(tmp_path / "a.csv"), "score_col": ["score"]}
    cuts = mipaudit.summarize(**given, key_col="key", cuts_only=True)
    mipaudit.summarize(**given, key_col="key", cuts=cuts)
    with pytest.raises(InputError) as caught:
        mipaudit.summarize(**given, key_col="other", cuts=cuts)
    assert caught.value.code == "moved_rows"


def test_a_site_may_have_one_class_only(scores):
    members, holdout = scores
    sites = [frame(members, holdout[:0]), frame(members[:0], holdout)]
    given = {"member_value": "true"}
    cuts = [
        mipaudit.summarize(one, first_row=at * 10**6, cuts_only=True, **given)
        for at, one in enumerate(sites)
    ]
    found = [
        mipaudit.summarize(one, first_row=at * 10**6, cuts=cuts, **given)
        for at, one in enumerate(sites)
    ]
    assert mipaudit.estimate(found).estimates[0].lower > 0.1
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(found[0])
    assert caught.value.code == "empty_class"


def keyed(count, first):
    generator = np.random.default_rng(first)
    table = frame(generator.normal(1, 1, count), generator.normal(0, 1, count))
    return table.assign(key=[f"r{first + at}" for at in range(2 * count)])


def test_keys_tell_rows_apart_instead_of_positions():
    sites = [keyed(1_000, 0), keyed(800, 10_000)]
    cuts = [mipaudit.summarize(one, key_col="key", cuts_only=True) for one in sites]
    found = [mipaudit.summarize(one, key_col="key", cuts=cuts) for one in sites]
    assert found[0].manifest.keyed
    assert found[0].manifest.extents == ()
    report = mipaudit.estimate(found)
    assert report.estimates[0].lower > 0.2
    origin = next(one for one in report.findings if one.code == "from_summaries")
    assert "on trust" in origin.text
    with pytest.raises(InputError) as caught:
        mipaudit.summarize(sites[0].assign(key="x"), key_col="key")
    assert caught.value.code == "repeated_keys"


def seeds_of(*files):
    return [one.manifest.seed for one in files]


def test_every_site_draws_its_own_seed_and_counts_with_it(scores):
    given = [(part, {"first_row": at}) for part, at in parts(scores, 3)]
    cuts = [mipaudit.summarize(part, cuts_only=True, **more) for part, more in given]
    assert len(set(seeds_of(*cuts))) == 3
    found = [mipaudit.summarize(part, cuts=cuts, **more) for part, more in given]
    assert seeds_of(*found) == seeds_of(*cuts)
    again = mipaudit.summarize(given[0][0], cuts_only=True)
    assert again.manifest.seed != cuts[0].manifest.seed
    fresh = mipaudit.summarize(given[0][0], cuts_only=True, seed="fresh")
    assert fresh.manifest.seed not in seeds_of(*cuts, again)


def test_cuts_of_another_draw_make_another_plan(scores):
    """Counts by the cuts of another draw would judge rows that trained."""
    ((whole, _),) = parts(scores, 1)
    files = [
        mipaudit.summarize(whole, cuts=mipaudit.summarize(whole, cuts_only=True, seed=seed))
        for seed in (1, 1, 2)
    ]
    plans = [one.manifest.plan for one in files]
    assert plans[0] == plans[1] != plans[2]


def test_a_stated_seed_is_never_used_bare_and_is_told(scores):
    ((whole, _),) = parts(scores, 1)
    cuts = mipaudit.summarize(whole, cuts_only=True, seed=7)
    elsewhere = mipaudit.summarize(whole, cuts_only=True, seed=7, first_row=10**6)
    assert len({7, *seeds_of(cuts, elsewhere)}) == 3
    # Nothing of the rows is in it: cuts must not confirm a guess of a record.
    reordered = mipaudit.summarize(whole.iloc[::-1], cuts_only=True, seed=7)
    assert seeds_of(reordered) == seeds_of(cuts)
    for more in ({}, {"seed": 7}):
        counted = mipaudit.summarize(whole, cuts=cuts, **more)
        report = mipaudit.estimate(counted)
        assert "stated_seed" in {one.code for one in report.findings}
    told = mipaudit.estimate(mipaudit.summarize(whole)).findings
    assert "stated_seed" not in {one.code for one in told}
    assert refused(lambda: mipaudit.summarize(whole, cuts=cuts, seed=8)) == "seed"


def test_data_in_memory_are_known_by_their_cuts():
    """Keyed rows have no position: their cuts are found by making them again."""
    sites = [keyed(900, 0), keyed(900, 10_000), keyed(900, 20_000)]
    given = {"key_col": "key"}
    cuts = [mipaudit.summarize(one, cuts_only=True, **given) for one in sites]
    found = [mipaudit.summarize(one, cuts=cuts, **given) for one in sites]
    assert seeds_of(*found) == seeds_of(*cuts)
    stranger = keyed(900, 30_000)
    assert refused(lambda: mipaudit.summarize(stranger, cuts=cuts, **given)) == "whose_cuts"
    larger = mipaudit.summarize(keyed(950, 30_000), cuts=cuts, **given)
    assert larger.manifest.seed not in seeds_of(*cuts)
    assert mipaudit.estimate([*found, larger]).design.n_members == 3 * 900 + 950


def test_people_of_a_site_are_stood_for_alike_in_cuts_and_counts():
    table = keyed(1_500, 0).assign(person=[f"p{at // 3}" for at in range(3_000)])
    given = {"unit_col": "person", "score_col": ["score"]}
    cuts = mipaudit.summarize(table, cuts_only=True, **given)
    found = mipaudit.summarize(table, cuts=cuts, **given)
    assert seeds_of(found) == seeds_of(cuts)
    assert found.manifest.n_members == cuts.manifest.n_members == 500


def order_for(seed, rows, chosen):
    """Return an order of rows that puts the chosen ones where the seed only trains."""
    from mipaudit.summaries.identity.row_rank import micro_blocks, position_bytes

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


def refused(call, **more):
    with pytest.raises((InputError, UsageError)) as caught:
        call(**more)
    return caught.value.code


def test_what_does_not_belong_together_is_refused(scores):
    members, holdout = scores
    pair = {"members": members, "holdout": holdout}
    one = mipaudit.summarize(**pair)
    moved = mipaudit.summarize(members=members + 1, holdout=holdout, first_row=10**9)
    for other, code in [
        (one, "overlapping_rows"),
        (mipaudit.summarize(**pair, first_row=10**9), "summaries_differ"),
        (mipaudit.summarize(**pair, prior=0.3, first_row=10**9), "summaries_differ"),
        (moved, "summaries_differ"),
        (mipaudit.summarize(**pair, cuts_only=True, first_row=10**9), "cuts_not_counts"),
    ]:
        assert refused(lambda: mipaudit.estimate([one, other])) == code  # noqa: B023
    assert refused(lambda: mipaudit.summarize(**pair, cuts=[one])) == "counts_not_cuts"


def test_the_same_file_is_not_counted_twice(scores, tmp_path):
    path = tmp_path / "a.parquet"
    frame(*scores).to_parquet(path)
    files = [mipaudit.summarize(str(path), first_row=at) for at in (0, 10**6)]
    assert refused(lambda: mipaudit.estimate(files)) == "same_rows"
    cuts = mipaudit.summarize(str(path), cuts_only=True)
    assert refused(lambda: mipaudit.summarize(str(path), cuts=cuts, first_row=10**6)) == (
        "moved_rows"
    )


def test_settings_that_make_no_sense_are_refused(scores):
    members, holdout = scores
    pair = {"members": members, "holdout": holdout}
    cuts = mipaudit.summarize(**pair, cuts_only=True)
    for more, code in [
        ({"cuts": cuts, "cuts_only": True}, "cuts_only"),
        ({"cuts": cuts, "min_cell": 10}, "min_cell"),
        ({"min_cell": 1}, "min_cell"),
        ({"first_row": -1}, "first_row"),
        ({"first_row": 1.5}, "first_row"),
        ({"prior": 1.0}, "prior"),
        ({"seed": -1}, "seed"),
        ({"seed": "new"}, "seed"),
        ({"seed": 1.5}, "seed"),
    ]:
        assert refused(lambda: mipaudit.summarize(**pair, **more)) == code  # noqa: B023
    keyed_input = keyed(100, 0)
    assert refused(lambda: mipaudit.summarize(keyed_input, key_col="key", first_row=3)) == (
        "first_row"
    )
    summary = mipaudit.summarize(**pair)
    for more in (
        {"method": "kde"},
        {"method": "mace"},
        {"discrete": True},
        {"score_col": ["score"]},
        {"where": "a = 1"},
        {"nan": "drop"},
        {"members": members, "holdout": holdout},
    ):
        assert refused(lambda: mipaudit.estimate(summary, **more)) == "not_for_summaries"  # noqa: B023
    assert refused(lambda: mipaudit.estimate([summary, "scores.csv"])) == "mixed_inputs"


def test_several_parts_are_one_input_in_order_of_their_names(scores, tmp_path):
    ((whole, _),) = parts(scores, 1)
    half = len(whole) // 2
    paths = [str(tmp_path / name) for name in ("b.parquet", "a.parquet")]
    whole.iloc[half:].to_parquet(paths[0])
    whole.iloc[:half].to_parquet(paths[1])
    several, glob = mipaudit.estimate(paths), mipaudit.estimate(str(tmp_path / "*.parquet"))
    assert document(several) == document(glob)
    assert [one.name.endswith("a.parquet") for one in several.provenance.inputs] == [True, False]
    assert refused(lambda: mipaudit.estimate([*paths, "-"])) == "stdin_and_files"


def test_many_scores_still_make_a_small_file():
    generator = np.random.default_rng(2)
    members, holdout = generator.normal(size=(2, 20_000, 30))
    file = mipaudit.summarize(members=members, holdout=holdout)
    assert len(file.to_bytes()) < 10 << 20
    report = mipaudit.estimate(file)
    assert len({row.score for row in report.estimates}) == 30
