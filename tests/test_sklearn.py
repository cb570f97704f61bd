"""Audits of real scikit-learn models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mipaudit import InputError, UsageError, estimate
from mipaudit.sklearn import audit_classifier, membership_scorer, shadow_scores


@pytest.fixture(scope="module")
def noise():
    """Return records whose classes nothing tells, so that whoever fits them knows them by heart."""
    random = np.random.default_rng(8)
    return random.normal(size=(800, 6)), random.integers(0, 3, 800)


@pytest.fixture(scope="module")
def real():
    data = load_breast_cancer()
    order = np.random.default_rng(2).permutation(data.target.size)
    return data.data[order], data.target_names[data.target[order]]


def audited(model, X, y, at=400, **options):
    """Audit a model of the first records; the others are the holdout."""
    return audit_classifier(model, X[:at], y[:at], X[at:], y[at:], **options)


def tree_of(X, y, **settings):
    return DecisionTreeClassifier(random_state=0, **settings).fit(X[:400], y[:400])


def test_a_tree_that_knows_its_records_by_heart_gives_them_away(noise):
    X, y = noise
    tree = tree_of(X, y)
    report = audited(tree, X, y, max_advantage=0.1)
    right = np.mean(tree.predict(X[400:]) == y[400:])
    assert report.verdict.status == "not_met"
    assert report.estimates[0].lower > 0.5
    # All members have no loss; of the holdout those have none that are guessed by luck.
    assert report.estimates[0].lower <= 1 - right + 0.1


def test_the_loss_is_that_of_the_model_and_the_report_that_of_estimate(real):
    X, y = real
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(X[:300], y[:300])
    report = audited(model, X, y, 300, confidence=0.9)
    columns = [np.flatnonzero(model.classes_ == one)[0] for one in y]
    loss = -np.log(model.predict_proba(X)[np.arange(y.size), columns])
    by_hand = estimate(members=loss[:300], holdout=loss[300:], confidence=0.9)
    assert report.design.confidence == 0.9
    assert report.estimates[0].plugin == pytest.approx(by_hand.estimates[0].plugin, abs=1e-9)


def test_frames_and_a_decision_function_are_taken(real):
    X, y = real
    frame = pd.DataFrame(X / X.std(axis=0))
    model = LinearSVC(dual=False).fit(frame[:300], y[:300])
    report = audited(model, frame, y, 300)
    assert (report.design.n_members, report.design.n_holdout) == (300, y.size - 300)


@pytest.mark.parametrize("framed", [False, True])
def test_the_members_of_a_fold_are_those_that_its_model_was_trained_on(noise, framed):
    X, y = noise
    X = pd.DataFrame(X) if framed else X
    folds = StratifiedKFold(4)
    found = cross_validate(
        DecisionTreeClassifier(random_state=1), X, y, cv=folds, scoring=membership_scorer(X, y)
    )
    trained, held = next(folds.split(X, y))
    rows = (lambda places: X.iloc[places]) if framed else (lambda places: X[places])
    model = DecisionTreeClassifier(random_state=1).fit(rows(trained), y[trained])
    by_hand = audit_classifier(model, rows(trained), y[trained], rows(held), y[held])
    assert found["test_advantage_at_least"][0] == by_hand.estimates[0].lower
    assert np.all(found["test_advantage_at_least"] > 0.4)
    assert np.all(found["test_auc"] > 0.7)


def test_records_that_stand_in_both_are_nobodys_members(noise):
    X, y = noise
    twice, classes = np.concatenate([X, X[:50]]), np.concatenate([y, y[:50]])
    model = DecisionTreeClassifier(random_state=1).fit(twice[100:], classes[100:])
    found = membership_scorer(twice, classes)(model, X[:100], y[:100])
    report = audit_classifier(model, X[100:], y[100:], X[:100], y[:100])
    assert found["advantage"] == report.estimates[0].value


@pytest.fixture(scope="module")
def forest(noise):
    X, y = noise
    recipe = RandomForestClassifier(20, random_state=0)
    member = np.random.default_rng(3).random(y.size) < 0.5
    target = recipe.fit(X[member], y[member])
    return recipe, target, member


def test_every_record_is_in_half_of_the_shadow_models(noise, forest):
    X, y = noise
    shadows = shadow_scores(forest[0], X, y, n_models=4, random_state=1)
    assert shadows.shadow.shape == shadows.inclusion.shape == (4, 800)
    assert np.all(shadows.inclusion.sum(axis=0) == 2)
    inside, outside = shadows.shadow[shadows.inclusion], shadows.shadow[~shadows.inclusion]
    assert inside.mean() > outside.mean() + 0.3
    with parallel_config(backend="threading"):
        again = shadow_scores(forest[0], X, y, n_models=4, random_state=1, n_jobs=2)
    np.testing.assert_array_equal(shadows.shadow, again.shadow)
    other = shadow_scores(forest[0], X, y, n_models=4, random_state=2)
    assert not np.array_equal(shadows.inclusion, other.inclusion)


def test_from_an_estimator_to_the_verdict_of_lira(noise, forest, tmp_path, mipaudit):
    X, y = noise
    recipe, target, member = forest
    shadows = shadow_scores(
        recipe, X, y, n_models=16, target=target, membership=member, random_state=1
    )
    scores = shadows.lira()
    report = estimate(scores.table, score_col=["lira_online"], max_advantage=0.1)
    assert report.verdict.status == "not_met"
    shadows.save(tmp_path / "shadows.npz")
    line = "query lira --shadow shadows.npz --values probability -o scores.parquet"
    done = mipaudit(*line.split())
    assert done.returncode == 0, done.stderr
    written = pd.read_parquet(tmp_path / "scores.parquet")
    np.testing.assert_allclose(written["lira_online"], scores.columns["lira_online"])


def test_strings_are_classes_as_numbers_are(real):
    X, words = real
    numbers = np.unique(words, return_inverse=True)[1]
    recipe = LogisticRegression(max_iter=5000)
    settings = {"n_models": 2, "random_state": 0}
    scaled = X / X.std(axis=0)
    by_words = shadow_scores(recipe, scaled, words, **settings)
    by_numbers = shadow_scores(recipe, scaled, numbers, **settings)
    np.testing.assert_array_equal(by_words.shadow, by_numbers.shadow)


def words_of(y):
    return np.array(["a", "b", "c"])[y]


def of_two(X, y):
    two = y[:400] < 2
    return tree_of(X[:400][two], y[:400][two])


def of_sets(X, y, model):
    return model.fit(X, np.column_stack([y, y]))


def of_pairs(X, y, shape="ovo"):
    return make_pipeline(StandardScaler(), SVC(decision_function_shape=shape)).fit(X, y)


def shadows_of(X, y, **settings):
    return shadow_scores(DecisionTreeClassifier(), X, y, **{"n_models": 2, **settings})


KNOWN = {"membership": np.arange(800) < 400}


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            lambda X, y: audited(of_two(X, y), X, y),
            r"y_train=: records of a class that the model does not know: [0-9]+",
        ),
        (lambda X, y: audited(object(), X, y), "no outputs"),
        (lambda X, y: audited(tree_of(X, y, min_samples_leaf=400), X, y), "same for every record"),
        (
            lambda X, y: audited(tree_of(X, y), X, words_of(y)),
            "none of the classes in y_train\\..* w",
        ),
        # As many pairs as classes: nothing else would tell.
        (lambda X, y: audited(of_pairs(X, y), X, y), "each pair of classes"),
        (
            lambda X, y: audited(of_sets(X, y, IsolationForest(n_estimators=5)), X, y),
            "no classifier",
        ),
        (
            lambda X, y: audited(of_sets(X, y, RandomForestClassifier(3)), X, y),
            "does not give a record one class",
        ),
        (lambda X, y: membership_scorer(X, y)(tree_of(X, y), X, y), "Every record"),
        (lambda X, y: shadows_of(X, y).lira(), "no audited model"),
        (lambda X, y: shadows_of(X, y[:-1]), "another length than X="),
        (lambda X, y: shadows_of(X, np.column_stack([y, y])), "one class for each record"),
        (
            lambda X, y: shadows_of(X, words_of(y), target=tree_of(X, y), **KNOWN),
            "target= knows none of the classes",
        ),
        *(
            (lambda X, y, wrong=wrong: shadows_of(X, y, **wrong), said)
            for wrong, said in (
                ({"n_models": 1}, "2 or more"),
                ({"n_models": 4.0}, "a whole number"),
                ({"n_models": "4"}, "a whole number"),
                ({"target": object()}, "belong together"),
                ({"target": object(), "membership": [True]}, "another length"),
                ({"target": object(), "membership": ["no"] * 800}, "True and False"),
                ({"target": object(), "membership": [2] * 800}, "True and False"),
                ({"target": object(), "membership": [1] * 800}, "probabilities"),
            )
        ),
    ],
)
def test_what_cannot_be_audited_says_what_is_wrong(noise, run, said):
    with pytest.raises((InputError, UsageError), match=said):
        run(*noise)


def test_outputs_of_one_against_the_rest_are_audited(noise):
    assert audited(of_pairs(*noise, "ovr"), *noise).verdict.status == "no_policy"


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier(max_iter=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
        CalibratedClassifierCV(LinearSVC(dual=False)),
        make_pipeline(StandardScaler(), RandomForestClassifier(5)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_every_family_are_audited(noise, model):
    X, y = noise[0].astype(np.float32), pd.Series(words_of(noise[1]))
    report = audited(model.fit(X[:400], y[:400]), X, y)
    assert (report.design.n_members, report.design.n_holdout) == (400, 400)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_matrix, sparse.csr_array])
def test_sparse_records_are_those_that_they_are_when_filled(noise, form):
    X, y = noise
    X = np.where(np.abs(X) < 0.5, 0, X)
    tree = DecisionTreeClassifier(random_state=0)
    full = shadow_scores(tree, X, y, n_models=2, random_state=0)
    thin = shadow_scores(tree, form(X), y, n_models=2, random_state=0)
    np.testing.assert_array_equal(full.shadow, thin.shadow)
    fitted = tree.fit(X[:400], y[:400])
    rows = sparse.csr_matrix(X)
    assert membership_scorer(form(X), y)(fitted, rows[400:], y[400:]) == membership_scorer(X, y)(
        fitted, X[400:], y[400:]
    )


def test_a_class_of_few_that_a_half_lacks_has_no_probability_there(noise):
    X, y = noise
    y = np.where(np.arange(800) == 3, 9, y)
    shadows = shadow_scores(DecisionTreeClassifier(), X, y, n_models=4, random_state=0)
    assert np.all(shadows.shadow[~shadows.inclusion[:, 3], 3] == 0)
    assert np.all(shadows.shadow[shadows.inclusion[:, 3], 3] == 1)


def test_many_models_are_shared_out_in_parts(noise, monkeypatch):
    monkeypatch.setattr("mipaudit.sklearn.shadow._CELLS", 40)
    X, y = noise
    shadows = shadow_scores(DecisionTreeClassifier(max_depth=1), X, y, n_models=6, random_state=0)
    assert np.all(shadows.inclusion.sum(axis=0) == 3)
    assert len(np.unique(shadows.inclusion, axis=1).T) == 20  # every way to choose 3 of 6


def test_scores_of_what_a_model_was_trained_on_are_no_numbers(noise):
    X, y = noise
    how = {"scoring": membership_scorer(X, y), "return_train_score": True}
    found = cross_validate(DecisionTreeClassifier(), X, y, cv=3, **how)
    assert np.all(np.isnan(found["train_advantage"]))
    assert np.all(found["test_advantage"] > 0.3)


def test_progress_goes_to_standard_error(noise, capsys):
    shadow_scores(DecisionTreeClassifier(), *noise, n_models=2, progress=True)
    said = capsys.readouterr()
    assert not said.out
    assert "Shadow models" in said.err
