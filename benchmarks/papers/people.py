"""The two tables of people that are no part of this project: as numbers, and divided."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from scipy.cluster.vq import kmeans2

if TYPE_CHECKING:
    from limits import Array
    from numpy.typing import NDArray

    Owner = NDArray[np.bool_]

# All columns of the Adult data in their order: the file may lack its line of names.
_ADULT: Final = re.findall(
    r"\w+",
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income",
)
_ADULT_NUMBERS: Final = [_ADULT[place] for place in (0, 2, 4, 10, 11, 12)]
_ADULT_KINDS: Final = [_ADULT[place] for place in (1, 3, 5, 6, 7, 8, 9, 13)]
_COUNTED: Final = ("juv_fel", "juv_misd", "juv_other", "priors")
_COMPAS_KINDS: Final = ["sex", "age_cat", "race", "c_charge_degree"]
_COMPAS_NUMBERS: Final = ["age", *(f"{kind}_count" for kind in _COUNTED)]
_DAYS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Records as a network takes them.

    Attributes:
        inputs: (n, d), numbers standardized, kinds one-hot.
        names: (d,) the attribute that each of their columns is from.
        labels: (n,) 0 or 1.
        graduates: (n,) who is a high-school graduate; nobody where that is not known.
    """

    inputs: Array
    names: NDArray[np.str_]
    labels: Array
    graduates: Owner


def adult_people(path: str) -> People:
    """Return the Adult data, a CSV file with its 14 attributes and the income."""
    table = _read(path)
    if "education" not in table:
        table = pd.read_csv(path, skipinitialspace=True, header=None, names=_ADULT)
    income = table["income"].astype(str).str.strip()
    graduates = table["education"].astype(str).str.strip().str.lower().eq("hs-grad")
    return _encoded(table, _ADULT_NUMBERS, _ADULT_KINDS, income.str.startswith(">50K"), graduates)


def compas_people(path: str) -> People:
    """Return the COMPAS data, ProPublica's compas-scores-two-years.csv, filtered as it did."""
    table = _read(path)
    kept = table[
        (_numbers(table["days_b_screening_arrest"]).abs() <= _DAYS)
        & (_numbers(table["is_recid"]) != -1)
        & (table["c_charge_degree"] != "O")
        & table["score_text"].notna()
        & (table["score_text"] != "N/A")
    ]
    again = _numbers(kept["two_year_recid"]) == 1
    return _encoded(kept, _COMPAS_NUMBERS, _COMPAS_KINDS, again, again & ~again)


def _read(path: str) -> Any:  # noqa: ANN401 - a data frame
    table = pd.read_csv(path, skipinitialspace=True)
    table.columns = table.columns.str.strip().str.lower().str.replace("[-. ]", "_", regex=True)
    return table


def _encoded(
    table: Any,  # noqa: ANN401 - a data frame
    numbers: list[str],
    kinds: list[str],
    labels: Any,  # noqa: ANN401 - series
    graduates: Any,  # noqa: ANN401 - series
) -> People:
    columns, names = [], []
    for name in numbers:
        values = _numbers(table[name])
        filled = values.fillna(values.mean()).to_numpy(dtype=np.float64)
        columns.append((filled - filled.mean()) / (filled.std() or 1.0))
        names.append(name)
    for name in kinds:
        text = table[name].astype(str).str.strip()
        known = table[name].notna() & ~text.isin(["?", "nan", "None", "<NA>", ""])
        filled = text.where(known, text[known].mode().iloc[0])
        for kind in sorted(filled.unique()):
            columns.append((filled == kind).to_numpy(dtype=np.float64))
            names.append(name)
    return People(
        inputs=np.column_stack(columns),
        names=np.array(names),
        labels=labels.to_numpy(dtype=np.float64),
        graduates=graduates.to_numpy(dtype=np.bool_),
    )


def clusters(people: People, rng: np.random.Generator) -> Owner:
    """Return who is in the owner's part: of each class one of two clusters, drawn at random."""
    owner = np.zeros(len(people.labels), dtype=np.bool_)
    for label in (0.0, 1.0):
        rows = np.flatnonzero(people.labels == label)
        _, cluster = kmeans2(people.inputs[rows], 2, minit="++", rng=rng)
        owner[rows] = cluster == rng.integers(2)
    return owner


def _numbers(column: Any) -> Any:  # noqa: ANN401 - series
    found = pd.to_numeric(column, errors="coerce")
    return found.where(np.isfinite(found))
