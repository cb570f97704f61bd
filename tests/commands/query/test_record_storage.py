"""How a table is stored says nothing of its records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.report.messages.told import told


@pytest.fixture
def ask(tmp_path):
    """Return a function that writes the tables, each in its form, and asks the query."""

    def run(forms="frame frame frame", words="nn", reference=None, **settings):
        members, holdout, synthetic = settings.pop("tables")
        held = {"members": members, "holdout": holdout, "synthetic": synthetic}
        for (role, table), form in zip(tuple(held.items()), forms.split(), strict=True):
            path = tmp_path / f"{role}.{form}"
            if form == "csv":
                table.to_csv(path, index=False)
            elif form == "parquet":
                table.to_parquet(path)
            held[role] = table if form == "frame" else path
        report = mipaudit.query(
            words, **held, reference=reference, output=tmp_path / "scores.csv", **settings
        )
        return report, pd.read_csv(tmp_path / "scores.csv")

    return run


def copied(report):
    return [one.copied for one in report.copies]


def codes(report):
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize("forms", ["frame frame frame", "parquet csv parquet", "csv parquet csv"])
def test_single_precision_tells_no_class(ask, forms):
    values = np.random.default_rng(0).choice([0.1, 0.2, 0.3, 0.7], 300)
    members, holdout, synthetic = (pd.DataFrame({"x": part}) for part in np.split(values, 3))

    report, scores = ask(
        forms, tables=(members.astype("float32"), holdout, synthetic.astype("float32"))
    )

    assert copied(report) == [100, 100]
    assert (scores["nn"] == 0).all()
    # Text is written in few digits.
    single = not forms.startswith("csv")
    assert report.columns[0].rounded == single
    assert ("rounded_numbers" in codes(report)) == single


def test_equal_precision_is_left_alone(ask):
    tables = [pd.DataFrame({"x": np.arange(30, dtype="float32") / 7}) for _ in range(3)]

    report, _ = ask(tables=tables)

    assert not report.columns[0].rounded


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_numbers_of_too_many_digits_are_not_taken_for_copies(ask, form):
    synthetic = pd.DataFrame({"account": 2**60 + 3 * np.arange(40)})
    forms = " ".join([form] * 3)

    with pytest.raises(InputError) as caught:
        ask(forms, tables=(synthetic + 1, synthetic + 2, synthetic))
    assert caught.value.code == "too_many_digits"
    assert str(2**60)[:6] not in str(caught.value)
    report, _ = ask(forms, tables=(synthetic + 1, synthetic, synthetic), categorical=["account"])
    assert copied(report) == [0, 40]


def test_small_numbers_that_scaling_merges_are_no_copies(ask):
    small = 1e-30 * np.arange(1, 20)
    synthetic = pd.DataFrame({"x": [*small, *range(1, 41)]})
    members = pd.DataFrame({"x": [*(small * 1.5 + 1e-32), *(np.arange(20) + 0.5)]})

    report, _ = ask(tables=(members, members + 0.25, synthetic))

    assert copied(report) == [0, 0]


def test_unseen_words_are_not_the_same_word(ask):
    plain = pd.DataFrame({"name": ["a", "b"] * 10, "x": range(20)})
    members = plain.assign(name=[f"m{at}" for at in range(20)])
    holdout = plain.assign(name=[f"h{at}" for at in range(20)])

    report, _ = ask(tables=(members, holdout, plain))

    assert "shared_records" not in codes(report)
    assert "shared_records" in codes(ask(tables=(members, members.copy(), plain))[0])


@pytest.mark.parametrize("forms", ["parquet csv csv", "csv csv csv", "parquet parquet csv"])
@pytest.mark.parametrize(
    ("members", "holdout"),
    [
        ([1.0, 2.0, 3.0, 2.0], ["1", "2.0", "3", "E11"]),
        ([1, 2, 3, 2], ["01", "2", "3", "1"]),
        ([True, False, False, True], ["true", "FALSE", "False", "True"]),
        (pd.date_range("2024-01-01", periods=4), [f"2024-01-0{day}" for day in range(1, 5)]),
    ],
    ids=["numbers", "padded", "truths", "days"],
)
def test_a_category_is_the_same_however_it_is_written(ask, forms, members, holdout):
    tables = [pd.DataFrame({"z": words * 5}) for words in (list(members), holdout, list(members))]

    report, _ = ask(forms, tables=tables, categorical=["z"])

    # Where no table holds numbers, 01 and 1 are different codes.
    apart = forms == "csv csv csv" and "01" in holdout
    unseen = 5 * ("E11" in holdout or apart)
    assert report.copies[0].copied == 20
    assert report.copies[1].copied == 20 - unseen
    assert report.columns[0].unseen == unseen
    assert report.columns[0].unseen_members == 0


def test_codes_that_begin_as_numbers_can_be_read(ask):
    words = [*map(str, range(60)), "E11", "007"]
    tables = [pd.DataFrame({"z": words})] * 3

    report, _ = ask("csv csv csv", tables=[t.copy() for t in tables], categorical=["z"])

    assert copied(report) == [62, 62]
    assert report.columns[0].levels == 62


def test_an_empty_cell_is_empty_in_every_form(ask):
    tables = [pd.DataFrame({"z": ["a", "NA", "b", ""] * 5, "x": [*range(20)]}) for _ in range(3)]

    report, _ = ask("parquet csv csv", tables=tables)

    assert copied(report) == [20, 20]
    assert report.columns[0].missing == 30


def test_a_reference_that_holds_scored_records_is_told(ask):
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    tables = (plain[:30], plain[30:60], plain[60:])

    report, _ = ask(words=["density"], tables=tables, reference=plain[40:60].copy())
    apart, _ = ask(words=["nn"], tables=tables, reference=plain[40:60].copy())

    text = next(told(f) for f in report.findings if f.code == "reference_overlap")
    assert "0 members and 20 holdout records" in text
    assert "reference_overlap" not in codes(apart)


def test_whole_numbers_beyond_every_integer_are_refused_as_well(ask):
    synthetic = pd.DataFrame({"account": [str(10**30 + at) for at in range(40)]})

    with pytest.raises(InputError) as caught:
        ask("csv csv csv", tables=(synthetic, synthetic.copy(), synthetic.copy()))

    assert caught.value.code == "too_many_digits"
    tables = (synthetic[:20], synthetic[20:], synthetic[10:30])
    assert copied(ask("csv csv csv", tables=tables, categorical=["account"])[0]) == [10, 10]


def test_a_word_among_numbers_is_told_what_to_do_here(ask):
    plain = pd.DataFrame({"age": range(40)})
    odd = pd.DataFrame({"age": [*map(str, range(39)), "Xylophone"]})

    with pytest.raises(InputError) as caught:
        ask("csv csv csv", tables=(odd, plain, plain.copy()))

    assert caught.value.code == "unparsable"
    assert "--categorical" in str(caught.value.hint)
    assert "Xylophone" not in str(caught.value)


@pytest.mark.parametrize("forms", ["frame frame frame", "parquet csv parquet", "parquet csv csv"])
def test_single_precision_tells_no_class_in_categories(ask, forms):
    values = np.random.default_rng(0).choice([0.1, 0.123456789, 3.0, 7.25], 300)
    members, holdout, synthetic = (pd.DataFrame({"x": part}) for part in np.split(values, 3))
    stored = synthetic.astype("float32") if forms.endswith("t") or "frame" in forms else synthetic

    report, _ = ask(forms, tables=(members.astype("float32"), holdout, stored), categorical=["x"])

    assert copied(report) == [100, 100]
    assert report.columns[0].unseen == 0


def test_a_reference_of_one_record_says_nothing(ask):
    tables = [pd.DataFrame({"x": range(at, at + 30)}) for at in range(3)]

    report, scores = ask(words=["density"], tables=tables, reference=pd.DataFrame({"x": [4]}))

    assert (scores["density"] == 0).all()
    assert "constant_query" in codes(report)
