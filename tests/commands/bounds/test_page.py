"""The answers of ``bounds`` as pages of text."""

from __future__ import annotations

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from mipaudit.commands.bounds.run import bounds
from mipaudit.formats.report_forms import report_text
from mipaudit.statements.text.rounding import lower_figure, upper_figure


class TextSnapshot(SingleFileSnapshotExtension):
    """One readable text file for each snapshot."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(TextSnapshot)


SAMPLES = {
    "claim": {"epsilon": 1.0, "delta": 1e-5},
    "claim_add_remove": {"epsilon": 1.0, "adjacency": "add-remove", "prior": 0.1},
    "gaussian": {"mu": 1.0, "adjacency": "substitution"},
    "gaussian_without_epsilon": {"noise_sd": 2.0, "sensitivity": 3.0, "delta": 0.0},
    "laplace": {"scale": 2.0},
    "geometric": {"geometric_scale": 2.0, "sensitivity": 3},
    "response": {"randomized_response": 0.7, "categories": 4},
    "counting_queries": {"counting_queries": {"k": 100, "n": 1000}, "noise_sd": 0.01},
    "target": {"advantage": 0.1, "delta": 1e-5},
    "target_of_tpr": {"tpr_at_fpr": (0.02, 0.001), "adjacency": "add-remove", "sensitivity": 2.0},
    "target_of_nothing": {"eta": 0.0},
    "target_of_anything": {"accuracy": 1.0},
    "target_below_delta": {"eta": 0.01, "delta": 0.1},
    "target_of_queries": {"counting_queries": {"k": 100, "n": 1000}, "advantage": 0.1},
    "rates": {"tpr": 0.9, "fpr": 0.01},
    "perfect_rates": {"tpr": 1.0, "fpr": 0.0},
    "counts": {"tp": 90, "fn": 10, "fp": 1, "tn": 99},
    "perfect_counts": {"tp": 50, "fn": 0, "fp": 0, "tn": 50, "confidence": 0.9},
}
NAMES = list(SAMPLES)


@pytest.fixture(scope="module")
def page():
    return lambda name, width=100: report_text(bounds(**SAMPLES[name]), width=width)


@pytest.mark.parametrize("name", NAMES)
def test_golden(page, golden, name):
    assert page(name) == golden


@pytest.mark.parametrize("width", [80, 200])
def test_golden_at_other_widths(page, golden, width):
    assert page("claim", width) == golden


@pytest.mark.parametrize("width", [1, 40, 80, 100, 200])
@pytest.mark.parametrize("name", NAMES)
def test_no_number_is_ever_cut(name, width):
    report = bounds(**SAMPLES[name])
    tokens = set(report_text(report, width=width).replace(".\n", "\n").split())
    for allowed in filter(None, (report.attacker, *report.other_readings)):
        for figure in (allowed.advantage, allowed.eta, allowed.precision):
            assert upper_figure(figure) in tokens
    for bound in report.bounds:
        assert upper_figure(bound.value) in tokens
    for needed in report.needed:
        for figure in (needed.epsilon, needed.mu):
            assert figure is None or lower_figure(figure) in tokens
        assert needed.gaussian_sd is None or upper_figure(needed.gaussian_sd) in tokens
    for limit in report.refuted.limits if report.refuted else ():
        assert lower_figure(limit.epsilon_lower) in tokens
        assert limit.epsilon_upper is None or upper_figure(limit.epsilon_upper) in tokens


@pytest.mark.parametrize("width", [100, 200])
@pytest.mark.parametrize("name", NAMES)
def test_lines_fit_and_end_clean(page, name, width):
    lines = page(name, width).split("\n")

    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    assert lines[-1] == ""
    assert lines[-2]


@pytest.mark.parametrize("name", NAMES)
def test_pages_speak_plain_text(page, name):
    text = page(name)

    assert text.isascii()
    assert not {"inf", "Infinity", "nan", "None", "-0"} & set(text.split())


def test_limits_are_rounded_outward(page):
    # An upper bound up: tanh(1/2) + 2e-5 / (1 + e) is 0.4621225...
    assert " 0.46213 " in page("claim")
    # What may be at most down: 0.2006529...; what must be at least up: 3.97894...
    assert " 0.20065 " in page("target")
    assert " 3.979 " in page("target")
