"""What models of scikit-learn give for records, and what records are, whatever holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mipaudit.maths.arrays import Bools, Floats, Places

# What to try where a model knows none of the classes.
SAME: Final = "Give the classes as the model was trained with: words or numbers."
_FIT: Final = "Give a fitted classifier with predict_proba or decision_function."


def outputs(model: Any, X: Any) -> tuple[str, Floats]:  # noqa: ANN401
    """Return which outputs a model has, and those of some records, shape (n, classes)."""
    if hasattr(model, "predict_proba"):
        return "probabilities", np.asarray(model.predict_proba(X), dtype=np.float64)
    if hasattr(model, "decision_function"):
        if not hasattr(model, "classes_"):
            raise UsageError("no_classes", "The model is no classifier.", hint=_FIT)
        of_pairs = [
            value
            for name, value in getattr(model, "get_params", dict)().items()
            if name.endswith("decision_function_shape")
        ]
        if "ovo" in of_pairs and len(model.classes_) > 2:  # noqa: PLR2004 - a pair is one
            raise UsageError(
                "outputs_of_pairs",
                "The model gives an output for each pair of classes, not for each class.",
                hint='Set decision_function_shape="ovr".',
            )
        return "logits", np.asarray(model.decision_function(X), dtype=np.float64)
    raise UsageError("no_outputs", "The model gives no outputs for its classes.", hint=_FIT)


def labels_of(y: ArrayLike, name: str) -> NDArray[Any]:
    """Return the classes of records, shape (n,)."""
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:  # noqa: PLR2004 - a column
        found = found[:, 0]
    if found.ndim != 1:
        raise InputError("labels", f"{name} must hold one class for each record.")
    return found


def places(model: Any, labels: NDArray[Any]) -> Places:  # noqa: ANN401
    """Return where each label stands among the model's classes, -1 where it does not.

    Raises:
        UsageError: the model has no classes, or sets of them.
    """
    import pandas as pd

    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(classes, list):
        raise UsageError("no_classes", "The model does not give a record one class.", hint=_FIT)
    at: Places = pd.Index(classes).get_indexer(pd.Index(labels))
    return at


def codes(model: Any, labels: ArrayLike, name: str) -> Places:  # noqa: ANN401
    """Return the place of each label among the model's classes."""
    at = places(model, labels_of(labels, name))
    unknown = int(np.count_nonzero(at < 0))
    if unknown and unknown == at.size:
        raise InputError(
            "unseen_classes",
            f"The model knows none of the classes in {name.rstrip('=')}.",
            hint=SAME,
        )
    if unknown:
        raise InputError(
            "unseen_classes",
            f"{name}: records of a class that the model does not know: {unknown:,}.",
            hint="Leave them out on both sides: the model cannot predict their class.",
        )
    return at


def rows_of(X: Any, chosen: Bools) -> Any:  # noqa: ANN401 - as X is
    """Return the chosen records."""
    at = np.flatnonzero(chosen)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    if hasattr(X, "iloc"):
        return X.iloc[at]
    return (np.asarray(X) if isinstance(X, list) else X)[at]


def fingerprints(X: Any, y: ArrayLike) -> NDArray[np.uint64]:  # noqa: ANN401
    """Return a number for each record that equal records share, shape (n,)."""
    import pandas as pd

    if hasattr(X, "tocsr"):
        X = _sparse_rows(X.tocsr())
    frame = pd.DataFrame(X).reset_index(drop=True)
    hashed: NDArray[np.uint64] = pd.util.hash_pandas_object(
        frame.assign(**{"\0class": np.asarray(y)}), index=False
    ).to_numpy()
    return hashed


def _sparse_rows(X: Any) -> list[bytes]:  # noqa: ANN401
    """Return what stands in each row of a sparse matrix, which may be too wide to be filled."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = zip(X.indptr, X.indptr[1:], strict=False)
    return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]
