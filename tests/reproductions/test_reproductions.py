"""Every figure comes out in its smaller form, and what they are made of is right."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import pytest

from mipaudit.errors import InputError, MissingExtraError
from mipaudit.maths.privacy.composition import Composition, DpSgd
from mipaudit.reproductions import run as reproduce_api
from mipaudit.reproductions.figures import yeom_fig2
from mipaudit.reproductions.figures.humphries_fig1 import bounds_at
from mipaudit.reproductions.figures.izzo_fig1 import first_moment, reached, sensitivity
from mipaudit.reproductions.figures.izzo_fig2 import corollary_8, sampler_accuracy
from mipaudit.reproductions.figures.yeom_fig2 import known_errors, one_error
from mipaudit.reproductions.mace.gan import draw_pictures, plug_in_risks, train_gan
from mipaudit.reproductions.models import guessing, network, people
from mipaudit.reproductions.models.network import DELTA, noise_multiplier
from mipaudit.reproductions.run import list_reproductions, reproduce, reproducible
from mipaudit.validation.laws.catalogue import law

IDS = [row[0] for row in list_reproductions()]
NEEDING_FILES = {"humphries-fig2", "humphries-fig3", "humphries-fig4"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files with the columns of the Adult and of the COMPAS data, drawn at random."""
    folder = tmp_path_factory.mktemp("people")
    adult_table(3000).to_csv(folder / "adult.csv", index=False)
    compas_table(3000).to_csv(folder / "compas.csv", index=False)
    return {"adult": folder / "adult.csv", "compas": folder / "compas.csv"}


def adult_table(rows):
    rng = np.random.default_rng(1)
    school = rng.choice(["HS-grad", "Bachelors", "Some-college"], rows)
    above = rng.random(rows) < np.where(school == "Bachelors", 0.6, 0.2)
    return pd.DataFrame(
        {
            "age": rng.integers(17, 90, rows),
            "workclass": rng.choice(["Private", "?"], rows),
            "fnlwgt": rng.integers(10_000, 900_000, rows),
            "education": school,
            "education-num": np.where(school == "HS-grad", 9, 12),
            "marital-status": rng.choice(["Never-married", "Divorced"], rows),
            "occupation": np.where(above, "Exec-managerial", rng.choice(["Sales", "?"], rows)),
            "relationship": rng.choice(["Husband", "Wife"], rows),
            "race": rng.choice(["White", "Black"], rows),
            "sex": rng.choice(["Male", "Female"], rows),
            "capital-gain": rng.integers(0, 100, rows) + 500 * above,
            "capital-loss": rng.integers(0, 100, rows),
            "hours-per-week": rng.integers(20, 60, rows),
            "native-country": "United-States",
            "income": np.where(above, ">50K", "<=50K"),
        }
    )


def compas_table(rows):
    rng = np.random.default_rng(2)
    again = rng.random(rows) < 0.45
    return pd.DataFrame(
        {
            "sex": rng.choice(["Male", "Female"], rows),
            "age": rng.integers(18, 70, rows),
            "age_cat": rng.choice(["25 - 45", "Less than 25"], rows),
            "race": rng.choice(["African-American", "Caucasian"], rows),
            "juv_fel_count": rng.integers(0, 3, rows),
            "juv_misd_count": rng.integers(0, 3, rows),
            "juv_other_count": rng.integers(0, 3, rows),
            "priors_count": rng.integers(0, 10, rows) + 5 * again,
            "c_charge_degree": rng.choice(["F", "M", "O"], rows, p=[0.6, 0.35, 0.05]),
            "days_b_screening_arrest": rng.integers(-40, 40, rows),
            "is_recid": again.astype(int),
            "score_text": "Low",
            "two_year_recid": again.astype(int),
        }
    )


@pytest.mark.parametrize("name", [name for name in IDS if name not in NEEDING_FILES])
def test_every_figure_comes_out_in_its_smaller_form(name):
    figure = reproduce(name, quick=True)
    assert [check.name for check in figure.outcome.checks if not check.passed] == []
    assert figure.outcome.claims
    assert figure.outcome.errata
    assert all(panel.curves for panel in figure.outcome.panels)


@pytest.mark.parametrize("name", sorted(NEEDING_FILES))
def test_figures_on_a_file_come_out(name, files):
    figure = reproduce(name, quick=True, **files)
    # The records are drawn at random: only the bound must hold, not the paper's figures.
    assert figure.outcome.checks[0].passed
    assert "drawn alike" in figure.outcome.panels[0].curves[-1].label


def test_curves_are_whole():
    for name in ("izzo-fig1", "lecture-thm2", "humphries-fig1"):
        for panel in reproduce(name, quick=True).outcome.panels:
            for curve in panel.curves:
                assert len(curve.x) == len(curve.y) > 0
                assert not any(math.isnan(y) for y in curve.y)


def test_the_seed_fixes_everything():
    first, again = (reproduce("lecture-thm2", quick=True, seed=3) for _ in range(2))
    assert first == again
    assert reproduce("lecture-thm2", quick=True, seed=4).outcome != first.outcome


def test_all_stands_for_what_can_be_computed():
    assert set(reproducible()) == set(IDS) - NEEDING_FILES
    assert set(reproducible(adult=True, compas=True)) == set(IDS)


def test_the_errata_are_said():
    said = " ".join(reproduce("izzo-fig2", quick=True).outcome.errata)
    assert "does not have the density of Theorem 7" in said
    figure = reproduce("mace-fig3", quick=True)
    assert "confounded with the estimator's bias" in " ".join(figure.outcome.errata)
    figure = reproduce("humphries-fig6", quick=True)
    assert "The cap is 0.95, not 0.90" in " ".join(figure.outcome.errata)


# What they are made of.


@pytest.fixture
def trained():
    rng = np.random.default_rng(5)
    made = network.make_network((4, 6, 3), rng)
    return made, rng.normal(size=(7, 4)), rng.integers(3, size=7).astype(float)


def test_gradients_are_those_of_the_loss(trained):
    made, inputs, labels = trained
    found = network.layers(made, inputs)
    back = network.signals(made, found, network.class_signal(found[-1], labels))
    gradients = network.gradients(found, back, np.ones(7))
    step = 1e-6
    for array, gradient in zip(made.arrays, gradients, strict=True):
        place = tuple(0 for _ in array.shape)
        array[place] += step
        above = network.log_losses(made, inputs, labels).sum()
        array[place] -= 2 * step
        below = network.log_losses(made, inputs, labels).sum()
        array[place] += step
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-5)


def test_the_signal_by_the_inputs_is_that_of_the_loss(trained):
    made, inputs, labels = trained
    found = network.layers(made, inputs)
    back = network.signals(made, found, network.class_signal(found[-1], labels))
    moved = inputs.copy()
    moved[2, 1] += 1e-6
    gap = network.log_losses(made, moved, labels) - network.log_losses(made, inputs, labels)
    assert back[0][2, 1] == pytest.approx(gap[2] / 1e-6, abs=1e-4)


def test_norms_are_those_of_single_gradients(trained):
    made, inputs, labels = trained
    found = network.layers(made, inputs)
    back = network.signals(made, found, network.class_signal(found[-1], labels))
    norms = network.gradient_norms(found, back)
    for record in range(7):
        alone = network.gradients(found, back, np.eye(7)[record])
        assert norms[record] == pytest.approx(math.sqrt(sum((part**2).sum() for part in alone)))


def test_clipping_bounds_what_one_record_adds(trained):
    made, inputs, labels = trained
    plan = network.Training(steps=1, batch=7, rate=0.1, noise=1e-12, clip=0.01)
    rng = np.random.default_rng(1)
    found = network.layers(made, inputs)
    last = network.class_signal(found[-1], labels)
    whole = network.private_sum(found, network.signals(made, found, last), plan, rng)
    rest = [layer[1:] for layer in found]
    part = network.private_sum(rest, network.signals(made, rest, last[1:]), plan, rng)
    moved = sum(((one - other) ** 2).sum() for one, other in zip(whole, part, strict=True))
    assert math.sqrt(moved) <= 0.01 * (1 + 1e-6)


def test_noise_keeps_the_epsilon():
    from mipaudit.maths.privacy.accountant import account

    noise, found = noise_multiplier(1.0, 0.1, 200)
    part = DpSgd(noise_multiplier=noise, q=0.1, steps=200)
    curve = account(Composition(parts=(part,)), "substitution")
    assert curve.epsilon_at(DELTA) == pytest.approx(found)
    assert 0.9 <= found <= 1.0


def test_noise_keeps_the_epsilon_of_whole_batches():
    noise, found = noise_multiplier(2.0, 1.0, 50)
    assert 1.8 <= found <= 2.0
    assert noise > 1


@pytest.mark.parametrize("width", [1, 2])
def test_the_histogram_estimate_is_that_of_numpy(width):
    rng = np.random.default_rng(3)
    members, holdout = rng.normal(size=(300, width)), rng.normal(0.3, 1, size=(500, width))
    both = np.concatenate([members, holdout])
    edges = [np.linspace(both[:, n].min(), both[:, n].max(), 101) for n in range(width)]
    shares = [np.histogramdd(side, edges)[0] / len(side) for side in (members, holdout)]
    wanted = np.abs(0.3 * shares[0] - 0.7 * shares[1]).sum()
    found = guessing.histogram_advantage(members, holdout, 0.3)
    assert found == pytest.approx(wanted, abs=0.01)


def test_the_top_of_the_scores_is_called_a_member():
    scores = np.arange(10.0)
    assert guessing.top_rates(scores[5:], scores[:5], 0.5) == (1.0, 0.0)
    assert guessing.accuracy_advantage(1.0, 0.0, 0.1) == 1.0
    assert guessing.accuracy_advantage(0.0, 0.0, 0.1) == pytest.approx(0.8)


def test_a_tree_finds_a_step():
    inputs = np.linspace(0, 1, 40)[:, None]
    targets = np.where(inputs[:, 0] > 0.3, 5.0, -1.0)
    fitted = yeom_fig2.fit_tree(inputs, targets, 1)
    assert np.allclose(yeom_fig2.predictions(fitted, inputs), targets)
    assert fitted.cut == pytest.approx(0.3, abs=0.03)
    assert yeom_fig2.fit_tree(inputs, np.ones(40), 3).children is None


@pytest.mark.parametrize("ratio", [1.5, 3.0])
def test_yeoms_formula_is_the_best_attackers(ratio):
    best = law(f"yeom-regression-1-{ratio:g}").advantage(0.5)
    assert known_errors(ratio) == pytest.approx(best, abs=1e-6)
    assert one_error(ratio) < best


def test_proposition_9_by_enumeration():
    outputs = np.zeros(math.comb(6, 3))
    outputs[0] = sensitivity(6)
    assert outputs.std() <= 1
    assert np.abs(outputs - np.median(outputs)).mean() == pytest.approx(first_moment(6))
    # A record of the special subset: half of the subsets hold it.
    assert reached(6, 1e-9) == pytest.approx(1 / math.comb(6, 3))


def test_the_samplers_radius():
    rng = np.random.default_rng(8)
    spreads = np.ones(50)
    published = [np.linalg.norm(corollary_8(spreads, 1.0, rng)) for _ in range(2000)]
    repaired = [np.linalg.norm(corollary_8(spreads, 1.0, rng, repaired=True)) for _ in range(2000)]
    assert np.mean(published) == pytest.approx(math.sqrt(50), rel=0.1)
    assert np.mean(repaired) == pytest.approx(50 * math.sqrt(50), rel=0.1)


def test_the_sampler_fails_where_it_was_found_to():
    # At eta 0.1 and k = 2, 10^5 coordinates are where the guarantee starts to fail.
    found = sampler_accuracy(np.random.default_rng(1), 2.0, 400_000)
    assert found == pytest.approx(0.100, abs=0.005)


def test_bounds_of_figure_1():
    assert bounds_at(0.0, 0.1) == pytest.approx((0.0, 0.1, 0.1))
    assert bounds_at(1.0, 0.0)[2] == pytest.approx(math.tanh(0.5))


def test_risks_of_bins():
    members, holdout = np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0])
    assert plug_in_risks(members, holdout) == pytest.approx([1.0, 1.0, 0.5])


def test_a_private_gan_learns_something_finite():
    rng = np.random.default_rng(2)
    last = train_gan(draw_pictures(rng, 100), (2,), rng, noise=1.0)[-1]
    pictures = draw_pictures(rng, 20)
    assert np.isfinite(last.scores(pictures)).all()
    assert (last.closeness(pictures) <= 0).all()


# The tables of people.


def test_compas_rows_are_left_out_as_propublica_did():
    table = compas_table(2000)
    kept = (table["days_b_screening_arrest"].abs() <= 30) & (table["c_charge_degree"] != "O")
    assert len(people.compas_people(table).labels) == kept.sum()


def test_the_adult_data_may_lack_its_names(tmp_path):
    table = adult_table(600)
    table.to_csv(tmp_path / "adult.data", index=False, header=False)
    figure = reproduce("humphries-fig2", quick=True, adult=tmp_path / "adult.data")
    assert figure.outcome.panels


@pytest.mark.parametrize("make", [people.adult_people, people.compas_people])
def test_other_tables_are_refused(make):
    with pytest.raises(InputError, match="lacks columns"):
        make(pd.DataFrame({"secret": ["value"]}))


def test_too_few_rows_are_refused(tmp_path):
    adult_table(50).to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(InputError, match="too few"):
        reproduce("humphries-fig2", quick=True, adult=tmp_path / "few.csv")


def test_an_unreadable_file_is_named_by_its_option(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="adult="):
        reproduce("humphries-fig2", adult=tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"income": "<=50K"}, "0 of 900 rows have an income above 50K"),
        ({"income": "secret"}, "neither >50K nor <=50K"),
        ({"education": "Bachelors"}, "0 of 900 rows have the education HS-grad"),
        ({"age": "secret"}, "column age holds numbers in 0 of 900 rows"),
        ({"age": float("inf")}, "column age holds numbers in 0 of 900 rows"),
        ({"workclass": float("nan")}, "column workclass holds values in 0 of 900 rows"),
        ({"workclass": "?"}, "column workclass holds values in 0 of 900 rows"),
    ],
)
def test_a_table_that_cannot_be_divided_is_refused_before_anything_is_computed(
    change, said, tmp_path
):
    table = adult_table(900).assign(**change)
    table.to_csv(tmp_path / "adult.csv", index=False)
    with pytest.raises(InputError) as caught:
        reproduce_api.require_files(
            ("humphries-fig3",), adult=str(tmp_path / "adult.csv"), compas=None
        )
    assert said in caught.value.message
    assert "secret" not in caught.value.message


def test_an_income_of_0_and_1_is_the_income():
    table = adult_table(900).rename(columns=lambda name: name.replace("-", "_"))
    bits = table.assign(income=table["income"].eq(">50K").astype(int))
    assert (people.adult_people(bits).labels == people.adult_people(table).labels).all()


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(InputError) as caught:
        reproduce("humphries-fig2", adult=tmp_path / "nowhere.csv")
    assert caught.value.code == "no_such_file"


def test_the_accountant_is_asked_for_before_anything_is_computed(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.common", None)
    with pytest.raises(MissingExtraError):
        reproduce_api.require_files(("izzo-fig1", "mace-fig6"), adult=None, compas=None)
    reproduce_api.require_files(("izzo-fig1",), adult=None, compas=None)


def test_clusters_with_hardly_anybody_on_a_side_are_refused():
    far = np.zeros((600, 2))
    far[:3] = far[300:303] = 1e6
    crowd = people.People(inputs=far, labels=np.repeat([0.0, 1.0], 300))
    # Whether the few of both classes are on one side is a matter of chance.
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="fewer than 100 records"):
        [people.clusters(crowd, rng) for _ in range(8)]


def test_every_check_on_a_file_could_fail(files):
    # The least that any attacker gains is never below 0: 'from 0 to 1' would show nothing.
    for name in ("humphries-fig2", "humphries-fig3"):
        checks = reproduce(name, quick=True, adult=files["adult"]).outcome.checks
        assert all((check.low, check.high) != (0.0, 1.0) for check in checks)
