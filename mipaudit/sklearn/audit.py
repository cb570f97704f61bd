"""From a fitted model to a report, and from the models of a cross-validation to figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.sklearn.models import codes, fingerprints, outputs, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


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
    """Return what a model's outputs reveal about who was in its training data.

    Args:
        model: fitted, with ``classes_`` and ``predict_proba`` or ``decision_function``.
        X_train: the records that it was trained on, n of them, as the model takes them.
        y_train: their classes, shape (n,); numbers or words.
        X_holdout: records drawn like them, which the model never saw.
        y_holdout: their classes; one that the model does not know is an error.
        scores: of ``query_losses``; each further score widens the limits of all.
        options: of ``mipaudit.estimate``, such as ``max_advantage``, ``prior``, ``confidence``.

    Raises:
        UsageError: a setting is wrong, or the model gives no output for each class.
        InputError: the labels do not fit the records or the model.
    """
    kind, members = outputs(model, X_train)
    _, holdout = outputs(model, X_holdout)
    given: dict[str, Any] = {kind: members, f"holdout_{kind}": holdout}
    asked = mipaudit.query_losses(
        **given,
        labels=codes(model, y_train, "y_train="),
        holdout_labels=codes(model, y_holdout, "y_holdout="),
        scores=scores,
    )
    return mipaudit.estimate(asked.table, score_col=scores, **options)


def membership_scorer(
    X: Any,  # noqa: ANN401 - whatever the model takes
    y: ArrayLike,
    **options: Any,  # noqa: ANN401 - checked by `estimate`
) -> Callable[[Any, Any, Any], dict[str, float]]:
    """Return a ``scoring`` for ``cross_validate(model, X, y)``: what each fold's model reveals.

    The members of a fold are the records of ``X`` that the fold is not scored on. So its model
    must be trained on all of them: use KFold or similar, not TimeSeriesSplit, nor a ShuffleSplit
    that leaves records out. Records are recognised by their values: a record that occurs in both
    parts is no member. The training sets of folds overlap, so their figures do not hold jointly,
    and their mean has no limits. What ``return_train_score`` adds is NaN.

    Args:
        X: all records, as given to ``cross_validate``; an array or a frame.
        y: their classes, shape (n,).
        options: of ``mipaudit.estimate``.

    Returns:
        ``advantage_at_least``, ``advantage`` (the best estimate) and ``auc`` of the loss.
    """
    rows, labels = fingerprints(X, y), np.asarray(y)
    scored: list[Any] = [None, None]  # the last model, and what it was scored on first

    def score(model: Any, X_test: Any, y_test: Any) -> dict[str, float]:  # noqa: ANN401
        held = fingerprints(X_test, y_test)
        if scored[0] is not model:
            scored[:] = [model, held]
        if not np.isin(held, scored[1]).any():  # what it was trained on: it has no holdout
            return dict.fromkeys(("advantage_at_least", "advantage", "auc"), float("nan"))
        apart = ~np.isin(rows, held)
        if not apart.any():
            raise UsageError(
                "no_members",
                "Every record is among those that the model is scored on.",
                hint="Give membership_scorer the X and y that cross_validate is given.",
            )
        report = audit_classifier(
            model, rows_of(X, apart), labels[apart], X_test, y_test, **options
        )
        loss = next(one for one in report.estimates if one.attackers == "any")
        auc = next(one for one in report.estimates if one.quantity == "auc")
        return {
            "advantage_at_least": loss.lower or 0.0,
            "advantage": loss.value or 0.0,
            "auc": float("nan") if auc.value is None else auc.value,
        }

    return score
