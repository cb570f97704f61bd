"""The scripts of the papers' figures: what they are made of is right, and so is the page."""

from __future__ import annotations

import math
import re
import sys

import numpy as np
import pandas as pd
import pytest

from mipaudit.maths.privacy.accountant import account
from mipaudit.maths.privacy.composition import Composition, DpSgd
from mipaudit.validation.laws import law
from tests.places import ROOT, load_script

SCRIPTS = ROOT / "benchmarks" / "papers"
sys.path.insert(0, str(SCRIPTS))
limits, comparison, guessing, network, people, gan, izzo, yeom, papers = (
    load_script(SCRIPTS / f"{name}.py")
    for name in (
        *("limits", "comparison", "guessing", "network", "people", "gan", "izzo", "yeom"),
        "papers",
    )
)
FIGURES = {**papers.FIGURES, **papers.ON_FILE}
TEXT = comparison.PAGE.read_text(encoding="utf-8")
_LARGEST = 60_000


# The page.


def test_every_figure_is_on_the_page_once_and_linked_and_none_failed():
    assert "**FAILS**" not in TEXT
    headings = re.findall(r"^## `(.*?)`: (.*)$", TEXT, re.MULTILINE)
    assert {name for name, _ in headings} == set(FIGURES)
    for name, title in headings:
        anchor = re.sub(r"[^a-z0-9 -]", "", f"{name} {title}".lower()).replace(" ", "-")
        assert f"](#{anchor})" in TEXT
        assert comparison.on_page(TEXT, name, "found\n").count("\n\nfound\n\n") == 1


def test_every_picture_is_there_and_small():
    named = re.findall(r"!\[.*\]\((.*)\)", TEXT)
    assert len(named) == len(FIGURES) - 1
    for picture in named:
        assert (comparison.PAGE.parent / picture).stat().st_size < _LARGEST
    kept = {
        f"reproductions/{path.name}"
        for path in (comparison.PAGE.parent / "reproductions").iterdir()
    }
    assert kept == set(named)


# Formulas alone, or draws that no processor changes.
@pytest.mark.parametrize("name", ["izzo-fig1", "humphries-fig1", "lecture-thm2"])
def test_the_page_is_what_the_scripts_say(name):
    made = papers.FIGURES[name]()
    assert comparison.on_page(TEXT, name, comparison.tables(made)) == TEXT
    for panel in made.panels:
        for curve in panel.curves:
            assert len(curve.x) == len(curve.y) > 0
            assert np.isfinite(curve.y).all()


@pytest.mark.parametrize(("found", "status"), [(0.5, 0), (0.7, 1)])
def test_a_number_that_does_not_come_out_fails_the_script(monkeypatch, tmp_path, found, status):
    page = tmp_path / "page.md"
    page.write_text("<!-- figures of: benchmarks/papers one -->\nbefore\n<!-- end of figures -->\n")
    made = comparison.Made(
        (comparison.Panel("title", "x", "y", (comparison.Curve("c", (0, 1), (1, 2)),)),),
        comparison.Claim("that | this", "this", "**no**"),
        comparison.Check("a number", found, (0.4, 0.6), "by hand"),
    )
    (tmp_path / "reproductions").mkdir()
    monkeypatch.setattr(sys, "argv", ["papers.py"])
    monkeypatch.setattr(papers, "FIGURES", {"one": lambda: made})
    monkeypatch.setattr(papers, "PAGE", page)
    monkeypatch.setattr(sys.modules["comparison"], "PAGE", page)
    monkeypatch.setattr(papers, "draw", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        papers.main()
    assert ended.value.code == status
    assert ("**FAILS**" in page.read_text()) == bool(status)
    assert "that \\| this" in page.read_text()
    assert "before" not in page.read_text()


# What they are made of.


@pytest.fixture
def trained():
    """A network, inputs and labels, what its layers hold, and the signals of the loss."""
    rng = np.random.default_rng(5)
    made = network.make_network((4, 6, 3), rng)
    inputs, labels = rng.normal(size=(7, 4)), rng.integers(3, size=7).astype(float)
    found = network.layers(made, inputs)
    last = network.class_signal(found[-1], labels)
    return made, inputs, labels, found, network.signals(made, found, last)


def test_gradients_and_signals_are_those_of_the_loss(trained):
    made, inputs, labels, found, back = trained
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
    moved = inputs.copy()
    moved[2, 1] += step
    gap = network.log_losses(made, moved, labels) - network.log_losses(made, inputs, labels)
    assert back[0][2, 1] == pytest.approx(gap[2] / step, abs=1e-4)


def test_norms_are_those_of_single_gradients_and_clipping_bounds_what_one_adds(trained):
    made, _, labels, found, back = trained
    norms = network.gradient_norms(found, back)
    for record in range(7):
        alone = network.gradients(found, back, np.eye(7)[record])
        assert norms[record] == pytest.approx(math.sqrt(sum((part**2).sum() for part in alone)))
    rng = np.random.default_rng(1)
    whole = network.private_sum(found, back, 1e-12, rng)
    rest = [layer[1:] for layer in found]
    signals = network.signals(made, rest, network.class_signal(rest[-1], labels[1:]))
    part = network.private_sum(rest, signals, 1e-12, rng)
    moved = sum(((one - other) ** 2).sum() for one, other in zip(whole, part, strict=True))
    assert math.sqrt(moved) <= 1 + 1e-6
    assert norms[0] > 1  # what was not clipped is more


def test_noise_keeps_the_epsilon_of_drawn_and_of_whole_batches():
    noise = network.noise_multiplier(1.0, 0.1, 200)
    part = DpSgd(noise_multiplier=noise, q=0.1, steps=200)
    curve = account(Composition(parts=(part,)), "substitution")
    assert 0.9 <= curve.epsilon_at(limits.DELTA) <= 1.0
    noise = network.noise_multiplier(2.0, 1.0, 50)
    assert 1.8 <= limits.epsilon_of_dp_sgd(noise, 1.0, 50) <= 2.0
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


def test_a_tree_finds_a_step():
    inputs = np.linspace(0, 1, 40)[:, None]
    targets = np.where(inputs[:, 0] > 0.3, 5.0, -1.0)
    fitted = yeom.fit_tree(inputs, targets, 1)
    assert np.allclose(yeom.predictions(fitted, inputs), targets)
    assert fitted.cut == pytest.approx(0.3, abs=0.03)
    assert yeom.fit_tree(inputs, np.ones(40), 3).children is None


@pytest.mark.parametrize("ratio", [1.5, 3.0])
def test_yeoms_formula_is_the_best_attackers(ratio):
    best = law(f"yeom-regression-1-{ratio:g}").advantage(0.5)
    assert yeom.known_errors(ratio) == pytest.approx(best, abs=1e-6)
    assert yeom.one_error(ratio) < best


def test_proposition_9_by_enumeration():
    outputs = np.zeros(math.comb(6, 3))
    outputs[0] = izzo.sensitivity(6)
    assert outputs.std() <= 1
    assert np.abs(outputs - np.median(outputs)).mean() == pytest.approx(izzo.first_moment(6))
    # A record of the special subset: half of the subsets hold it.
    assert izzo.reached(6, 1e-9) == pytest.approx(1 / math.comb(6, 3))


def test_the_samplers_radius():
    rng = np.random.default_rng(8)
    spreads = np.ones(50)
    published = [np.linalg.norm(izzo.corollary_8(spreads, 1.0, rng)) for _ in range(2000)]
    repaired = [
        np.linalg.norm(izzo.corollary_8(spreads, 1.0, rng, repaired=True)) for _ in range(2000)
    ]
    assert np.mean(published) == pytest.approx(math.sqrt(50), rel=0.1)
    assert np.mean(repaired) == pytest.approx(50 * math.sqrt(50), rel=0.1)


def test_the_sampler_fails_where_it_was_found_to():
    # At eta 0.1 and k = 2, 10^5 coordinates are where the guarantee starts to fail.
    found = izzo.sampler_accuracy(np.random.default_rng(1), 2.0, 400_000)
    assert found == pytest.approx(0.100, abs=0.005)


def test_figures_by_hand():
    scores = np.arange(10.0)
    assert guessing.top_rates(scores[5:], scores[:5], 0.5) == (1.0, 0.0)
    assert guessing.accuracy_advantage(1.0, 0.0, 0.1) == 1.0
    assert guessing.accuracy_advantage(0.0, 0.0, 0.1) == pytest.approx(0.8)
    assert limits.bounds_at(0.0, 0.1) == pytest.approx((0.0, 0.1, 0.1))
    assert limits.bounds_at(1.0, 0.0)[2] == pytest.approx(math.tanh(0.5))
    members, holdout = np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0])
    assert gan.plug_in_risks(members, holdout) == pytest.approx([1.0, 1.0, 0.5])


def test_a_private_gan_learns_something_finite():
    rng = np.random.default_rng(2)
    last = gan.train_gan(gan.draw_pictures(rng, 100), (2,), rng, noise=1.0)[-1]
    pictures = gan.draw_pictures(rng, 20)
    assert np.isfinite(last.scores(pictures)).all()
    assert (last.closeness(pictures) <= 0).all()


# The tables of people.


def test_compas_rows_are_left_out_as_propublica_did(tmp_path):
    rng, rows = np.random.default_rng(2), 2000
    kinds = {
        "sex": ["Male", "Female"],
        "age_cat": ["25 - 45", "Less than 25"],
        "race": ["African-American", "Caucasian"],
        "c_charge_degree": ["F", "M", "O"],
        "score_text": ["Low"],
    }
    numbers = {
        "age": (18, 70),
        "days_b_screening_arrest": (-40, 40),
        "is_recid": (0, 2),
        "two_year_recid": (0, 2),
        "priors_count": (0, 10),
        **dict.fromkeys(("juv_fel_count", "juv_misd_count", "juv_other_count"), (0, 3)),
    }
    columns = {name: rng.choice(words, rows) for name, words in kinds.items()}
    columns |= {name: rng.integers(*ends, rows) for name, ends in numbers.items()}
    table = pd.DataFrame(columns)
    table.to_csv(tmp_path / "compas.csv", index=False)
    kept = (table["days_b_screening_arrest"].abs() <= 30) & (table["c_charge_degree"] != "O")
    assert 0 < kept.sum() < rows
    assert len(people.compas_people(tmp_path / "compas.csv").labels) == kept.sum()


def test_the_adult_data_may_lack_its_names(tmp_path):
    table = pd.read_csv(ROOT / "sample_data" / "adult_members.csv")
    table.columns = [name.replace("_", "-") for name in table]
    table.loc[::7, ["workclass", "occupation"]] = "?"
    table.to_csv(tmp_path / "adult.csv", index=False)
    table.to_csv(tmp_path / "adult.data", index=False, header=False)
    found, again = (people.adult_people(tmp_path / f"adult.{end}") for end in ("csv", "data"))
    assert (found.inputs == again.inputs).all()
    assert found.labels.sum() == (table["income"] == ">50K").sum()
    assert found.graduates.sum() == (table["education"] == "HS-grad").sum()
    assert set(found.names) == {*people._ADULT_NUMBERS, *people._ADULT_KINDS}


def test_clusters_come_apart():
    far = np.random.default_rng(1).normal(size=(600, 2))
    far[::2] += 50
    labels = np.repeat([0.0, 1.0], 300)
    crowd = people.People(
        inputs=far, names=np.array(["a", "b"]), labels=labels, graduates=labels > 2
    )
    owner = people.clusters(crowd, np.random.default_rng(0))
    for label in (0.0, 1.0):
        sides = {tuple(owner[labels == label][start::2]) for start in (0, 1)}
        assert sides == {(True,) * 150, (False,) * 150}
