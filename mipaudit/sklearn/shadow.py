"""Shadow models: trained on random halves of the records, so that LiRA can judge a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.output.destination import row_file
from mipaudit.sklearn.models import SAME, labels_of, places, rows_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from mipaudit.maths.arrays import Bools, Floats

_FEWEST_MODELS: Final = 2
_CELLS: Final = 1 << 22  # of models and records, drawn at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowScores:
    """Probabilities of the true classes by shadow models, each trained on half of the records.

    Attributes:
        shadow: probability of the true class, shape (models, records), in [0, 1].
        inclusion: which model was trained with which record, the same shape.
        target: the same probability by the audited model, shape (records,); None without one.
        member: whether the audited model was trained with each record; None without one.
    """

    shadow: Floats
    inclusion: Bools
    target: Floats | None = None
    member: Bools | None = None

    def lira(self, **options: Any) -> Any:  # noqa: ANN401 - of `query_lira`, which checks them
        """Return the likelihood-ratio score of every record: a ``ModelQuery`` of ``query_lira``.

        Raises:
            UsageError: there is no audited model, or an option is wrong.
        """
        if self.target is None:
            raise UsageError(
                "target",
                "There is no audited model among these scores.",
                hint="Give shadow_scores the fitted model as target= and its membership=.",
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
        """Write an archive for ``mipaudit query lira``, whose values are probabilities.

        Raises:
            OutputError: the file cannot be written; one that is there stays as it was.
        """
        named: dict[str, Any] = {"shadow": self.shadow, "inclusion": self.inclusion}
        if self.target is not None and self.member is not None:
            named |= {"target": self.target, "member": self.member}
        with row_file(path) as file:  # by its path np.savez would add a suffix
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
        estimator: an estimator, which is cloned; best a pipeline with its preprocessing.
        X: all records, members and holdout of the audited model, n of them; array or frame.
        y: their classes, shape (n,).
        n_models: how many are trained, at least 2. LiRA needs about 16, and improves up to 256.
        target: the audited model, fitted; without it the scores can be saved, not judged.
        membership: whether ``target`` was trained with each record, shape (n,).
        random_state: random seed of the halves, and of estimators that take one; None: a fresh one.
        n_jobs: number of processes, as in joblib; None: one.
        progress: whether stderr shows how many are trained.

    Raises:
        UsageError: too few models, ``target`` without ``membership``, or a model that gives no
            probabilities.
        InputError: labels or membership do not fit the records.
    """
    from joblib import Parallel, delayed

    labels = labels_of(y, "y=")
    if not hasattr(n_models, "__index__") or n_models < _FEWEST_MODELS:
        raise UsageError("n_models", f"n_models= must be a whole number, {_FEWEST_MODELS} or more.")
    if (target is None) != (membership is None):
        raise UsageError("membership", "target= and membership= belong together: give both.")
    if (X.shape[0] if hasattr(X, "shape") else len(X)) != labels.size:
        raise InputError("rows_differ", "y= has another length than X=.")
    member = None if membership is None else _member(membership, labels)
    # Before the long work: whether they can be used at all.
    _require_probabilities(estimator)
    audited = None if target is None else _of_true_class(target, X, labels, known=True)
    random = np.random.default_rng(random_state)
    inclusion = _halves(random, n_models, labels.size)
    seeds = random.integers(2**31, size=n_models)
    runs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_shadow)(estimator, X, labels, half, int(seed))
        for half, seed in zip(inclusion, seeds, strict=True)
    )
    shadow = np.empty(inclusion.shape)
    for row, found in zip(shadow, _counted(runs, n_models, shown=progress), strict=True):
        row[:] = found
    return ShadowScores(shadow=shadow, inclusion=inclusion, target=audited, member=member)


def _halves(random: np.random.Generator, models: int, records: int) -> Bools:
    """Return which model has which record: each in half of them, or one less."""
    halves = np.empty((models, records), dtype=bool)
    step = max(1, _CELLS // models)
    for start in range(0, records, step):
        part = halves[:, start : start + step]
        part[:] = (np.arange(models) < models // 2)[:, None]
        random.permuted(part, axis=0, out=part)
    return halves


def _shadow(
    estimator: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    labels: NDArray[Any],
    half: Bools,
    seed: int,
) -> Floats:
    from sklearn.base import clone

    model = clone(estimator)
    own = {name: seed for name in model.get_params() if name.endswith("random_state")}
    model.set_params(**own).fit(rows_of(X, half), labels[half])
    return _of_true_class(model, X, labels)


def _of_true_class(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    labels: NDArray[Any],
    *,
    known: bool = False,
) -> Floats:
    """Return the probability of each record's class; 0 of a class that the model never saw.

    Args:
        model: fitted.
        X: the records.
        labels: their classes.
        known: whether to refuse a model that knows none of them.
    """
    _require_probabilities(model)
    outputs = np.asarray(model.predict_proba(X), dtype=np.float64)
    at = places(model, labels)
    if known and (at < 0).all():
        raise InputError("unseen_classes", "target= knows none of the classes in y=.", hint=SAME)
    found: Floats = outputs[np.arange(labels.size), at].clip(0, 1)
    return np.where(at >= 0, found, 0.0)


def _require_probabilities(model: Any) -> None:  # noqa: ANN401
    if not hasattr(model, "predict_proba"):
        raise UsageError(
            "no_outputs",
            "Shadow scores need the probabilities of classes.",
            hint="Wrap the estimator in CalibratedClassifierCV, which gives them.",
        )


def _member(membership: ArrayLike, labels: NDArray[Any]) -> Bools:
    found = np.asarray(membership)
    if found.shape != labels.shape:
        raise InputError("rows_differ", "membership= has another length than y=.")
    if found.dtype.kind not in "biuf" or not np.isin(found, (0, 1)).all():
        raise InputError("membership", "membership= must hold True and False, or 1 and 0.")
    return found.astype(bool)


def _counted(runs: Iterable[Any], total: int, *, shown: bool) -> Iterable[Any]:
    if not shown:
        return runs
    from rich.console import Console
    from rich.progress import track

    return track(runs, "Shadow models", total=total, console=Console(stderr=True))
