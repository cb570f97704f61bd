"""The two tables of people that a user supplies: as numbers, and divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array

_ADULT_NUMBERS: Final = (
    "age",
    "fnlwgt",
    "education_num",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
)
_ADULT_KINDS: Final = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
_COMPAS_NUMBERS: Final = (
    "age",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
)
_COMPAS_KINDS: Final = ("sex", "age_cat", "race", "c_charge_degree")
_FILTERED: Final = ("days_b_screening_arrest", "is_recid", "score_text", "two_year_recid")
_DAYS: Final = 30
_FEWEST: Final = 400
# On either side of what divides the records.
_FEWEST_OF_A_KIND: Final = 100
_LEAST_KNOWN: Final = 0.1
_ABOVE: Final = (">50k", ">50k.", "1")
_BELOW: Final = ("<=50k", "<=50k.", "0")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Records as a network takes them.

    Attributes:
        inputs: (n, d), numbers standardized, kinds one-hot.
        labels: (n,) 0 or 1.
        graduates: (n,) who is a high-school graduate; None where that is not known.
        education: (d,) the columns that say so.
    """

    inputs: Array
    labels: Array
    graduates: np.ndarray[Any, np.dtype[np.bool_]] | None = None
    education: np.ndarray[Any, np.dtype[np.bool_]] | None = None


def adult_people(table: Any) -> People:  # noqa: ANN401 - a data frame
    """Return the Adult data.

    Args:
        table: a data frame with the fourteen attributes and ``income``.

    Raises:
        InputError: ``adult_columns``, ``adult_rows``, ``adult_values``: it is not the Adult
            data.
    """
    label = next((name for name in ("income", "class", "label") if name in table), None)
    missing = [name for name in (*_ADULT_NUMBERS, *_ADULT_KINDS) if name not in table]
    if label is None or missing:
        raise InputError(
            "adult_columns",
            "The file for `adult` lacks columns of the Adult data: "
            + ", ".join(missing or ["income"])
            + ".",
            hint="Take the census income data of 1994 with its 14 attributes and the income.",
        )
    _require_rows(len(table), "adult")
    inputs, names = _encoded(table, _ADULT_NUMBERS, _ADULT_KINDS, "adult")
    above = _above(table[label])
    learned = np.array([name in {"education", "education_num"} for name in names])
    level = table["education"].astype(str).str.strip().str.lower()
    graduates = level.eq("hs-grad").to_numpy(dtype=np.bool_)
    _require_both(above, "adult", "an income above 50K")
    _require_both(graduates, "adult", "the education HS-grad")
    return People(
        inputs=inputs,
        labels=above.astype(np.float64),
        graduates=graduates,
        education=learned,
    )


def compas_people(table: Any) -> People:  # noqa: ANN401 - a data frame
    """Return the COMPAS data, filtered as ProPublica did.

    Args:
        table: a data frame with the columns of the two-year scores.

    Raises:
        InputError: ``compas_columns``, ``compas_rows``, ``compas_values``: it is not the
            COMPAS data.
    """
    missing = [name for name in (*_COMPAS_NUMBERS, *_COMPAS_KINDS, *_FILTERED) if name not in table]
    if missing:
        raise InputError(
            "compas_columns",
            "The file for `compas` lacks columns of the two-year scores: "
            + ", ".join(missing)
            + ".",
            hint="Take ProPublica's file of two-year scores, compas-scores-two-years.csv.",
        )
    days = _numbers(table["days_b_screening_arrest"])
    kept = table[
        (days.abs() <= _DAYS)
        & (_numbers(table["is_recid"]) != -1)
        & (table["c_charge_degree"] != "O")
        & table["score_text"].notna()
        & (table["score_text"] != "N/A")
    ]
    _require_rows(len(kept), "compas")
    inputs, _ = _encoded(kept, _COMPAS_NUMBERS, _COMPAS_KINDS, "compas")
    again = (_numbers(kept["two_year_recid"]) == 1).to_numpy(dtype=np.bool_)
    _require_both(again, "compas", "two_year_recid 1")
    return People(inputs=inputs, labels=again.astype(np.float64))


def clusters(people: People, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return who is in the owner's part: of each class one of two clusters, drawn at random.

    Raises:
        InputError: ``clusters``: the records do not come apart into two parts of some size.
    """
    from scipy.cluster.vq import kmeans2

    owner = np.zeros(len(people.labels), dtype=np.bool_)
    for label in (0.0, 1.0):
        rows = np.flatnonzero(people.labels == label)
        _, cluster = kmeans2(people.inputs[rows], 2, minit="++", rng=rng)
        owner[rows] = cluster == rng.integers(2)
    if min(int(owner.sum()), int((~owner).sum())) < _FEWEST_OF_A_KIND:
        raise InputError(
            "clusters",
            f"The clusters leave fewer than {_FEWEST_OF_A_KIND} records on one side.",
            hint="Look whether a column has a few extreme numbers.",
        )
    return owner


def _encoded(
    table: Any,  # noqa: ANN401 - a data frame
    numbers: tuple[str, ...],
    kinds: tuple[str, ...],
    which: str,
) -> tuple[Array, list[str]]:
    """Return the inputs, and the attribute that each of their columns is from."""
    columns, names = [], []
    for name in numbers:
        values = _numbers(table[name])
        _require_values(int(values.notna().sum()), len(table), which, name, "numbers")
        filled = values.fillna(values.mean()).to_numpy(dtype=np.float64)
        columns.append((filled - filled.mean()) / (filled.std() or 1.0))
        names.append(name)
    for name in kinds:
        text = table[name].astype(str).str.strip()
        known = table[name].notna() & ~text.isin(["?", "nan", "None", "<NA>", ""])
        _require_values(int(known.sum()), len(table), which, name, "values")
        filled = text.where(known, text[known].mode().iloc[0])
        for kind in sorted(filled.unique()):
            columns.append((filled == kind).to_numpy(dtype=np.float64))
            names.append(name)
    return np.column_stack(columns), names


def _numbers(column: Any) -> Any:  # noqa: ANN401 - series
    import pandas as pd

    found = pd.to_numeric(column, errors="coerce")
    return found.where(np.isfinite(found))


def _above(column: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:  # noqa: ANN401 - series
    """Return who earns above 50K: ``>50K`` or 1, for ``<=50K`` or 0."""
    text = column.astype(str).str.strip().str.lower().str.replace(" ", "", regex=False)
    text = text.str.removesuffix(".0").fillna("")
    if not text.isin([*_ABOVE, *_BELOW]).all():
        raise InputError(
            "adult_values",
            "The file for `adult`: the income is neither >50K nor <=50K in some rows.",
            hint="1 and 0 are understood, too.",
        )
    return np.asarray(text.isin(_ABOVE).to_numpy(dtype=np.bool_))


def _require_both(held: np.ndarray[Any, np.dtype[np.bool_]], which: str, what: str) -> None:
    """Require some records on both sides."""
    count = int(held.sum())
    if min(count, len(held) - count) < _FEWEST_OF_A_KIND:
        raise InputError(
            f"{which}_values",
            f"The file for --{which}: {count:,} of {len(held):,} rows have {what}.",
            hint=f"At least {_FEWEST_OF_A_KIND} must, and as many must not.",
        )


def _require_values(known: int, rows: int, which: str, column: str, what: str) -> None:
    """Require that a tenth of a column at least is known."""
    if known < _LEAST_KNOWN * rows:
        raise InputError(
            f"{which}_values",
            f"The file for --{which}: the column {column} holds {what} in {known:,} of {rows:,} "
            "rows.",
            hint="Is it the column that its name says?",
        )


def _require_rows(rows: int, which: str) -> None:
    if rows < _FEWEST:
        raise InputError(
            f"{which}_rows",
            f"The file for --{which} has {rows} usable rows: too few.",
            hint=f"At least {_FEWEST} are needed; the papers use all of the data.",
        )
