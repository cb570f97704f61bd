"""What a page of ``bounds`` says first: that nothing was measured, and the harsher reading."""

import mipaudit
from mipaudit.commands.bounds.front import bounds_front
from mipaudit.commands.bounds.page import bounds_brief
from mipaudit.formats.report_forms import report_as
from mipaudit.statements.text.guesses import right_at_most


def front(report):
    return bounds_front(report, bounds_brief(report))


def test_nothing_was_measured_and_the_harsher_reading_counts():
    report = mipaudit.bounds(epsilon=1, delta=1e-5)
    (harsher,) = report.other_readings

    found = front(report)

    assert found.first[0].startswith("Nothing was measured")
    assert harsher.advantage > report.attacker.advantage
    assert f"more often than {right_at_most(harsher.advantage)} times in 100" in found.answer
    assert f"at most {right_at_most(report.attacker.advantage)} times" in found.also[0]
    assert "was not said" in found.also[1]
    assert found.subject == "The promise of (1, 1e-5)-differential privacy"


def test_a_reading_that_was_stated_stands_alone():
    report = mipaudit.bounds(epsilon=1, delta=1e-5, adjacency="substitution")

    found = front(report)

    assert f"than {right_at_most(report.attacker.advantage)} times" in found.answer
    assert found.also == ()


def test_certainty_about_one_record_is_said_in_words():
    def worst(**promise):
        return dict(front(mipaudit.bounds(**promise)).terms)["At worst"]

    assert "not ruled out" in worst(epsilon=1, delta=1e-5, adjacency="substitution")
    assert "more than 0.73106 sure" in worst(epsilon=1, delta=0, adjacency="substitution")


def test_a_page_without_a_promise_keeps_its_own_answer():
    report = mipaudit.bounds(tpr=0.9, fpr=0.01)

    assert front(report).answer == bounds_brief(report).answer


def test_a_page_draws_both_readings_where_none_was_said():
    both = report_as(mipaudit.bounds(epsilon=1, delta=1e-5), "html")
    one = report_as(mipaudit.bounds(epsilon=1, delta=1e-5, adjacency="substitution"), "html")

    assert "(1, 1e-5)-differential privacy, added or removed: at FPR" in both
    assert "the same, one record exchanged: at FPR" in both
    assert "added or removed: at FPR" not in one
    assert "not stated" not in both, "nothing was released"
