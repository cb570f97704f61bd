"""What shadow models say of records: read as phi, oriented, and kept from knowing too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.options.plain_values import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.model.lira.options import Values

# As near to 0 and 1 as double precision goes: log(p/(1-p)) is within 37.
_LEAST: Final = 2.0**-53
# Half of the distance from 1 to the number before it, of single precision.
_SINGLE_GAP: Final = 2.0**-25
# Numbers read from decimals and numbers computed anew agree so far.
_SAME: Final = 1e-4
# By chance a model is trained on just the target's records with probability 2^-n.
_TELLING: Final = 40
# Of so many numbers phi is not always from 0 to 1.
_MANY: Final = 20
# Standard errors between the models that members and holdout records have.
_APART: Final = 5.0


def odds(values: NDArray[np.float64], kind: Values, name: str) -> tuple[NDArray[np.float64], int]:
    """Return phi = log(p / (1-p)), and how many were 0 or 1 up to rounding and were moved.

    Raises:
        InputError: ``bad_confidences``, ``look_like_probabilities``, ``look_like_labels``.
    """
    from mipaudit.commands.query.model.loss_scores import phi_of_loss, phi_of_probability

    if kind != "probability" and values.size >= _MANY and _are_labels(values):
        raise InputError(
            "look_like_labels",
            f"{name}: every confidence is a whole number, as labels and membership are.",
            hint="Give what the model says of the true class: query losses --scores phi makes it.",
        )
    if kind == "phi":
        if values.size >= _MANY and bool(((values >= 0) & (values <= 1)).all()):
            raise InputError(
                "look_like_probabilities",
                f"{name}: every confidence is from 0 to 1, as probabilities are and phi = "
                "log(p / (1-p)) is not.",
                hint="Say so with `values` probability.",
            )
        return values, 0
    low, high = (0.0, 1.0) if kind == "probability" else (0.0, np.inf)
    wrong = int(np.count_nonzero((values < low) | (values > high)))
    if wrong:
        what = "from 0 to 1" if kind == "probability" else "of at least 0"
        raise InputError(
            "bad_confidences",
            f"{name}: {wrong:,} confidences are no number {what}.",
            hint="Say what they are with `values` phi, probability or loss.",
        )
    if kind == "probability":
        found, moved = phi_of_probability(values, _LEAST, _gap(values))
    else:
        found, moved = phi_of_loss(values, _LEAST)
    return found, int(np.count_nonzero(moved))


def _are_labels(values: NDArray[np.float64]) -> bool:
    # A loss of 0 everywhere is a model that is sure of all.
    return bool((values == np.floor(values)).all() and values.any())


def oriented(
    matrix: NDArray[np.float64], records: int, rows: str | None, name: str
) -> NDArray[np.float64]:
    """Return a matrix by model and record.

    Raises:
        UsageError: ``rows``: its shape leaves open what a row is.
        InputError: ``rows_differ``.
    """
    fits = {
        "models": matrix.shape[1] == records,
        "records": matrix.shape[0] == records,
    }
    if rows is None:
        require(
            not all(fits.values()),
            "rows",
            f"{name}: as many models as records: which is a row?",
            "Add `rows` models or `rows` records.",
        )
        rows = next((kind for kind, fit in fits.items() if fit), "models")
    if not fits[rows]:
        raise InputError(
            "rows_differ",
            f"{name}: {matrix.shape[0]:,} by {matrix.shape[1]:,} numbers, where the target has "
            f"{records:,} records.",
            hint="One value for each model and record, in the order of the target.",
        )
    return matrix if rows == "models" else matrix.T


def inclusion_bits(values: NDArray[np.float64], name: str) -> NDArray[np.bool_]:
    """Return which model was trained with which record.

    Raises:
        InputError: ``bad_inclusion``.
    """
    if not np.isin(values, (0.0, 1.0)).all():
        raise InputError(
            "bad_inclusion",
            f"{name}: the inclusion is not 0 or 1 everywhere.",
            hint="It says of each model and record whether that model was trained with it; the "
            "confidences go to `shadow`.",
        )
    return np.asarray(values == 1.0)


def _gap(values: NDArray[np.float64]) -> float:
    """Return how far from 1 a p that was rounded to 1 is taken to be."""
    single = bool((values == values.astype(np.float32)).all())
    return _SINGLE_GAP if single else _LEAST


def require_same_order(said: Sequence[str], included: Sequence[str], name: str) -> None:
    """Require that the columns of two tables, where they have the same names, stand alike.

    Raises:
        InputError: ``columns_differ``.
    """
    if sorted(said) == sorted(included) and tuple(said) != tuple(included):
        raise InputError(
            "columns_differ",
            f"{name}: the columns have the names of the shadow file's, in another order.",
            hint="The inclusion stands at the same place as the confidence that it is of.",
        )


def refuse_target(
    phi: NDArray[np.float64],
    included: NDArray[np.bool_],
    target: NDArray[np.float64],
    member: NDArray[np.bool_],
) -> None:
    """Refuse shadow models that are the target, or were trained on just its records.

    Args:
        phi: of the shadow models, shape (m, n).
        included: shape (m, n).
        target: phi of the target, shape (n,).
        member: of the target, shape (n,).

    Raises:
        InputError: ``target_among_shadows``.
    """
    same = np.isclose(phi, target, rtol=_SAME, atol=_SAME).all(axis=1)
    twins = (included == member).all(axis=1) & (member.size >= _TELLING)
    if same.any():
        count = int(same.sum())
        what = "say what the target says of every record"
    elif twins.any():
        count = int(twins.sum())
        what = "were trained on just the records that the target was trained on"
    else:
        return
    raise InputError(
        "target_among_shadows",
        f"{count} of the shadow models {what}.",
        hint="Leave the target out of the shadow models: the score would know the answer.",
    )


def counts_tell(included: NDArray[np.bool_], member: NDArray[np.bool_]) -> bool:
    """Tell whether the number of models with a record betrays that it is a member.

    It does where all models, the target among them, share out every record evenly: then a
    member is in the training set of one shadow model less.
    """
    count = included.sum(axis=0).astype(np.float64)
    if np.ptp(count + member) == 0:
        return True
    sides = [count[member], count[~member]]
    apart = abs(float(sides[0].mean() - sides[1].mean()))
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in sides)
    variance = squares / max(member.size - len(sides), 1)
    error = float(np.sqrt(variance * sum(1 / one.size for one in sides)))
    return apart > _APART * error
