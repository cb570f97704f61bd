"""Audits of scikit-learn's estimators: from a fitted model, or a recipe for one, to a report.

scikit-learn and joblib are loaded with the first call; ``pip install scikit-learn`` brings both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import mipaudit
from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

_FEWEST_MODELS: Final = 2
_FIT: Final = "Give a fitted classifier with predict_proba or decision_function."


def audit_classifier(
    model: Any,  # noqa: ANN401 - a scikit-learn classifier; it has no types
    X_train: Any,  # noqa: ANN401 - whatever the model takes
    y_train: ArrayLike,
    X_holdout: Any,  # noqa: ANN401
    y_holdout: ArrayLike,
    *,
    scores: tuple[str, ...] = ("loss",),
    **options: Any,  # noqa: ANN401 - checked by `estimate`
) -> mipaudit.Report:
    """Return what a model's outputs tell about who was in its training data.

    Args:
        model: fitted, with ``classes_`` and ``predict_proba`` or ``decision_function``.
        X_train: the records that it was trained on, n of them, as the model takes them.
        y_train: their classes, shape (n,); numbers or words.
        X_holdout: records drawn like them that it never saw.
        y_holdout: their classes; one that the model does not know is an error.
        scores: of ``query_losses``; each one more widens the limits of all.
        options: of ``mipaudit.estimate``, such as ``max_advantage``, ``prior``, ``confidence``.

    Raises:
        UsageError: a setting is wrong, or the model gives no outputs for classes.
        InputError: the labels do not fit the records or the model.
    """
    kind, members = _outputs(model, X_train)
    _, holdout = _outputs(model, X_holdout)
    outputs: dict[str, Any] = {kind: members, f"holdout_{kind}": holdout}
    asked = mipaudit.query_losses(
        **outputs,
        labels=_codes(model, y_train, "y_train"),
        holdout_labels=_codes(model, y_holdout, "y_holdout"),
        scores=scores,
    )
    return mipaudit.estimate(asked.table, score_col=scores, **options)


def membership_scorer(
    X: Any,  # noqa: ANN401 - whatever the model takes
    y: ArrayLike,
    **options: Any,  # noqa: ANN401 - checked by `estimate`
) -> Callable[[Any, Any, Any], dict[str, float]]:
    """Return a ``scoring`` for ``cross_validate(model, X, y)``: what each fold's model tells.

    The members of a fold are the records of ``X`` that are not among those it is scored on. It
    knows them by their values: a record that stands in both is nobody's member. Figures of
    different folds are of overlapping training sets: they are not joint, and their mean has no
    limits. Not for ``return_train_score``.

    Args:
        X: all records, as given to ``cross_validate``; an array or a frame.
        y: their classes, shape (n,).
        options: of ``mipaudit.estimate``.

    Returns:
        ``advantage_at_least``, ``advantage`` (the best estimate) and ``auc`` of the loss.
    """
    rows, labels = _fingerprints(X, y), np.asarray(y)

    def score(model: Any, X_test: Any, y_test: Any) -> dict[str, float]:  # noqa: ANN401
        apart = ~np.isin(rows, _fingerprints(X_test, y_test))
        if not apart.any():
            raise UsageError(
                "no_members",
                "Every record is among those that the model is scored on.",
                hint="Give `membership_scorer` the X and y that cross_validate is given.",
            )
        report = audit_classifier(
            model, _rows_of(X, apart), labels[apart], X_test, y_test, **options
        )
        loss = next(one for one in report.estimates if one.attackers == "any")
        auc = next(one for one in report.estimates if one.quantity == "auc")
        return {
            "advantage_at_least": loss.lower or 0.0,
            "advantage": loss.value or 0.0,
            "auc": float("nan") if auc.value is None else auc.value,
        }

    return score


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowScores:
    """What shadow models, each trained on a random half of the records, give their true classes.

    Attributes:
        shadow: probability of the true class, shape (models, records), in [0, 1].
        inclusion: which model was trained with which record, the same shape.
        target: the same probability by the audited model, shape (records,); None without one.
        member: whether the audited model was trained with each record; None without one.
    """

    shadow: NDArray[np.float64]
    inclusion: NDArray[np.bool_]
    target: NDArray[np.float64] | None = None
    member: NDArray[np.bool_] | None = None

    def lira(self, **options: Any) -> Any:  # noqa: ANN401 - of `query_lira`, which checks them
        """Return the likelihood-ratio score of every record: a ``ModelQuery`` of ``query_lira``.

        Raises:
            UsageError: there is no audited model, or an option is wrong.
        """
        if self.target is None:
            raise UsageError(
                "target",
                "There is no audited model among these scores.",
                hint="Give `shadow_scores` the fitted model as `target` and its `membership`.",
            )
        return mipaudit.query_lira(
            self.shadow,
            inclusion=self.inclusion,
            target=self.target,
            membership=self.member,
            values="probability",
            rows="models",
            **options,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an archive for ``mipaudit query lira``, whose values are probabilities."""
        named: dict[str, Any] = {"shadow": self.shadow, "inclusion": self.inclusion}
        if self.target is not None and self.member is not None:
            named |= {"target": self.target, "member": self.member}
        with open(path, "wb") as file:  # noqa: PTH123 - np.savez would add a suffix
            np.savez_compressed(file, **named)


def shadow_scores(  # noqa: PLR0913 - as scikit-learn names them
    estimator: Any,  # noqa: ANN401 - a scikit-learn classifier; it has no types
    X: Any,  # noqa: ANN401 - whatever it takes
    y: ArrayLike,
    *,
    n_models: int = 32,
    target: Any = None,  # noqa: ANN401 - a fitted classifier
    membership: ArrayLike | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ShadowScores:
    """Train shadow models on random halves, so that every record is in half of them.

    Args:
        estimator: a recipe, which is cloned; a pipeline with its preprocessing, best of all.
        X: all records, members and holdout of the audited model, n of them; array or frame.
        y: their classes, shape (n,).
        n_models: how many are trained, at least 2; LiRA needs some 16, and gains up to 256.
        target: the audited model, fitted; without it the scores can be saved, not judged.
        membership: whether ``target`` was trained with each record, shape (n,).
        random_state: of the halves, and of estimators that have one; None: fresh.
        n_jobs: processes, as joblib has them; None: one.
        progress: whether stderr shows how many are trained.

    Raises:
        UsageError: too few models, or ``target`` without ``membership``.
        InputError: labels or membership do not fit the records.
    """
    from joblib import Parallel, delayed

    labels = np.asarray(y)
    if n_models < _FEWEST_MODELS:
        raise UsageError("n_models", f"`n_models` is at least {_FEWEST_MODELS}.")
    if (target is None) != (membership is None):
        raise UsageError("membership", "`target` and `membership` belong together: give both.")
    member = None if membership is None else np.asarray(membership).astype(bool)
    if member is not None and member.shape != labels.shape:
        raise InputError("rows_differ", "`membership` has another length than `y`.")
    random = np.random.default_rng(random_state)
    inclusion = _halves(random, n_models, labels.size)
    seeds = random.integers(2**31, size=n_models)
    runs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_shadow)(estimator, X, labels, half, int(seed))
        for half, seed in zip(inclusion, seeds, strict=True)
    )
    return ShadowScores(
        shadow=np.stack(list(_counted(runs, n_models, shown=progress))),
        inclusion=inclusion,
        target=None if target is None else _of_true_class(target, X, labels),
        member=member,
    )


def _halves(random: np.random.Generator, models: int, records: int) -> NDArray[np.bool_]:
    """Return which model has which record: each in half of them, or one less."""
    order = random.permuted(np.tile(np.arange(models)[:, None], (1, records)), axis=0)
    halves: NDArray[np.bool_] = order < models // 2
    return halves


def _shadow(
    estimator: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    labels: NDArray[Any],
    half: NDArray[np.bool_],
    seed: int,
) -> NDArray[np.float64]:
    from sklearn.base import clone

    model = clone(estimator)
    own = {name: seed for name in model.get_params() if name.endswith("random_state")}
    model.set_params(**own).fit(_rows_of(X, half), labels[half])
    return _of_true_class(model, X, labels)


def _of_true_class(model: Any, X: Any, labels: NDArray[Any]) -> NDArray[np.float64]:  # noqa: ANN401
    """Return the probability of each record's class; 0 of a class that the model never saw."""
    if not hasattr(model, "predict_proba"):
        raise UsageError(
            "no_outputs",
            "Shadow scores need the probabilities of classes.",
            hint="Wrap the estimator in CalibratedClassifierCV, which gives them.",
        )
    outputs = np.asarray(model.predict_proba(X), dtype=np.float64)
    places = np.searchsorted(model.classes_, labels).clip(max=len(model.classes_) - 1)
    found: NDArray[np.float64] = outputs[np.arange(labels.size), places]
    return np.where(np.asarray(model.classes_)[places] == labels, found, 0.0)


def _outputs(model: Any, X: Any) -> tuple[str, NDArray[np.float64]]:  # noqa: ANN401
    """Return which outputs a model has, and those of some records, shape (n, classes)."""
    if hasattr(model, "predict_proba"):
        return "probabilities", np.asarray(model.predict_proba(X), dtype=np.float64)
    if hasattr(model, "decision_function"):
        return "logits", np.asarray(model.decision_function(X), dtype=np.float64)
    raise UsageError("no_outputs", "The model gives no outputs for its classes.", hint=_FIT)


def _codes(model: Any, labels: ArrayLike, name: str) -> NDArray[np.intp]:  # noqa: ANN401
    """Return the place of each label among the model's classes."""
    classes, given = np.asarray(model.classes_), np.asarray(labels)
    places = np.searchsorted(classes, given).clip(max=classes.size - 1)
    unknown = int(np.count_nonzero(classes[places] != given))
    if unknown:
        raise InputError(
            "unseen_classes",
            f"`{name}`: {unknown:,} records are of a class that the model does not know.",
            hint="Leave them out on both sides: the model can say nothing of their class.",
        )
    return places.astype(np.intp)


def _rows_of(X: Any, chosen: NDArray[np.bool_]) -> Any:  # noqa: ANN401 - as X is
    places = np.flatnonzero(chosen)
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return (np.asarray(X) if isinstance(X, list) else X)[places]


def _fingerprints(X: Any, y: ArrayLike) -> NDArray[np.uint64]:  # noqa: ANN401
    """Return a number for each record that equal records share, shape (n,)."""
    import pandas as pd

    dense = X.toarray() if hasattr(X, "toarray") else X
    frame = pd.DataFrame(dense).reset_index(drop=True)
    hashed: NDArray[np.uint64] = pd.util.hash_pandas_object(
        frame.assign(**{"\0class": np.asarray(y)}), index=False
    ).to_numpy()
    return hashed


def _counted(runs: Iterable[Any], total: int, *, shown: bool) -> Iterable[Any]:
    if not shown:
        return runs
    from rich.console import Console
    from rich.progress import track

    return track(runs, "Shadow models", total=total, console=Console(stderr=True))
