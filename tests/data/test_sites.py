"""By whose cuts summaries are counted, and what is said where a site is missing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import mipaudit
from mipaudit.data.summary_file import SiteRows
from mipaudit.output.stored_report import contradiction
from mipaudit.report.codec import from_json, to_json
from mipaudit.report.forms import answer_of, brief_report, report_as, report_text
from mipaudit.report.messages.told import told
from mipaudit.statements.verdict import SITES_LEFT_OUT, SITES_MISSING, WITHHELD
from tests.fixtures.codes import codes, refused

SHIFTS = {"north": 0.0, "South": 0.0, "west": 3.0}
LIMIT = 0.5


@pytest.fixture(scope="module")
def summaries():
    """The counts of three sites, of which one leaks nearly everything."""
    generator = np.random.default_rng(7)
    rows = {
        name: {"members": generator.normal(shift, 1, 900), "holdout": generator.normal(0, 1, 800)}
        for name, shift in SHIFTS.items()
    }
    cuts = [mipaudit.summarize(site=one, cuts_only=True, **rows[one]) for one in rows]
    return {
        one: mipaudit.summarize(site=one, cuts=cuts[::-1] if one == "west" else cuts, **rows[one])
        for one in rows
    }


def test_counts_say_by_whose_cuts_they_are(summaries):
    told = {one.manifest.sites for one in summaries.values()}
    assert told == {tuple(SiteRows(name=one, n_members=900, n_holdout=800) for one in SHIFTS)}
    whole = mipaudit.estimate(list(summaries.values()), max_advantage=LIMIT)
    assert codes(whole) == {"from_summaries"}
    assert "in score ranges that 3 sites chose" in report_text(whole, width=100).replace(
        "\n    ", " "
    )


@pytest.mark.parametrize("missing", [["west"], ["north", "west"]])
def test_no_policy_is_met_without_a_site(summaries, missing):
    here = [one for name, one in summaries.items() if name not in missing]
    for files in itertools.permutations(here):
        report = mipaudit.estimate(list(files), max_advantage=LIMIT)
        assert report.verdict.status == "inconclusive"
        assert report.policy[0].status == "met"
        assert WITHHELD & {one.code for one in report.verdict.reasons}
        assert SITES_MISSING in codes(report)
        for text in (brief_report(report, width=80), report_text(report, width=100)):
            assert "are missing" in text.replace("\n", " ") or "is missing" in text
        for name in missing:
            assert f"'{name}' (900 members, 800 holdout records)" in answer_of(report)


def test_more_records_of_the_others_are_not_said_to_settle_it(summaries):
    whole, part = [*summaries.values()][:2], summaries["north"]
    tpr = (0.03, 0.01)
    for limits in ({"max_advantage": 0.08}, {"max_advantage": 0.08, "max_tpr_at_fpr": tpr}):
        found = mipaudit.estimate(part, **limits)
        assert found.verdict.status == "inconclusive"
        assert {one.records_to_settle for one in found.policy} == {None}
        report = mipaudit.estimate(whole, without_site="west", **limits)
        assert any(one.records_to_settle for one in report.policy)
        assert "would probably decide it" in report_as(report, "junit")
        again = mipaudit.rejudge(found, **limits)
        assert again.policy
        for one in (found, again):
            for form in ("html", "markdown", "junit"):
                assert "records in all" not in report_as(one, form)
            assert "records in all" not in brief_report(one, width=80) + report_text(one, width=100)


def test_a_leak_among_the_others_and_a_missing_site_are_said_without_a_limit_too(summaries):
    report = mipaudit.estimate([summaries["west"]], max_advantage=LIMIT)
    assert report.verdict.status == "not_met"
    assert SITES_MISSING in codes(report)
    report = mipaudit.estimate(summaries["north"])
    assert report.verdict.status == "no_policy"
    assert "2 are missing" in brief_report(report, width=80)


def test_a_site_that_has_no_record_in_the_release_is_left_out_by_name(summaries):
    files = [summaries["north"], summaries["South"]]
    report = mipaudit.estimate(files, max_advantage=LIMIT, without_site=("WEST",))
    assert report.verdict.status == "met"
    assert report.verdict.assuming == "the release has no record of the sites left out"
    assert codes(report) == {"from_summaries", SITES_LEFT_OUT}
    assert answer_of(report).startswith("MET, assuming that the release has no record")
    one = mipaudit.estimate(files[0], max_advantage=LIMIT, without_site="west")
    assert one.verdict.status == "inconclusive"
    assert codes(one) == {"from_summaries", SITES_LEFT_OUT, SITES_MISSING}


@pytest.mark.parametrize(
    ("names", "without", "said"),
    [
        (["north"], ["east"], "did not use cuts of a site 'east'"),
        (["north", "west"], ["West"], "The summary of 'West' is given"),
        ([], ["west"], "scores are given"),
    ],
)
def test_only_a_site_that_is_missing_is_left_out(summaries, names, without, said):
    scores = {"member": [True, False] * 50, "score": list(np.linspace(0, 1, 100))}
    files = [summaries[name] for name in names]
    error = refused("without_site", mipaudit.estimate, files or scores, without_site=without)
    assert said in error.message


def test_one_input_by_its_own_cuts_misses_no_site():
    rows = np.random.default_rng(1).normal(size=(2, 300))
    alone = mipaudit.summarize(members=rows[0], holdout=rows[1], site="here")
    assert alone.manifest.sites == ()
    assert codes(mipaudit.estimate(alone)) == {"from_summaries"}
    error = refused("without_site", mipaudit.estimate, alone, without_site="there")
    assert "use cuts of a site 'there'" in error.message


def edited(file, **changes):
    return replace(file, manifest=replace(file.manifest, **changes))


def test_an_edit_of_one_file_is_found(summaries):
    """One file that is made to expect fewer sites, to be of another, or of other rows."""
    north, south, west = summaries.values()
    fewer = edited(north, sites=north.manifest.sites[:2])
    renamed = edited(west, site="east")
    resized = replace(north.manifest.sites[0], n_members=5)
    sizes = edited(north, sites=(resized, *fewer.manifest.sites))
    twice = edited(north, sites=north.manifest.sites * 2)
    for files, code in (
        ([fewer, south], "summaries_differ"),
        ([south, edited(north, sites=())], "summaries_differ"),
        ([north, south, renamed], "bad_summary"),
        ([sizes], "bad_summary"),
        ([twice], "bad_summary"),
        ([north, edited(north, site="South")], "same_rows"),
        ([north, south, edited(west, site="South")], "same_site"),
    ):
        refused(code, mipaudit.estimate, files, max_advantage=LIMIT)


def test_a_report_judged_again_or_compared_stays_open(summaries, tmp_path):
    files = [summaries["north"], summaries["South"]]
    report = mipaudit.estimate(files)
    again = mipaudit.rejudge(from_json(to_json(report)), max_advantage=0.9)
    assert again.verdict.status == "inconclusive"
    assert again.policy[0].status == "met"
    assert contradiction(from_json(to_json(again))) is None
    compared = mipaudit.compare(report, again, max_increase=0.9)
    assert compared.verdict.status == "inconclusive"
    assert "'west'" in answer_of(compared)


def test_the_seeds_of_summaries_are_not_said_to_follow_from_the_scores(summaries):
    for given, origin in (
        ({}, "from the counts"),
        ({"seed": 4}, "from the counts and the stated seed 4"),
    ):
        report = mipaudit.estimate(list(summaries.values()), **given)
        assert [one.decides for one in report.provenance.seeds] == ["ties"]
        whole = " ".join(report_text(report, width=100).split())
        assert "seed: the one in each summary; " in whole
        assert whole.endswith(f"for ties and tests, {origin}")
        brief = " ".join(brief_report(report, width=80).split())
        assert "Seed: the one in each summary." in brief
        assert "from the scores" not in brief + whole


def test_a_strict_audit_of_summaries_is_proved_over_their_seeds(summaries):
    report = mipaudit.estimate(list(summaries.values()), strict=True)
    said = " ".join(map(told, report.limitations))
    assert "are proved if the seed of each summary was drawn at random" in said
    assert "for this run" not in said
