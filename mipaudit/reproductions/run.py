"""``mipaudit reproduce``: figures of the papers, computed anew.

All reproductions, in the order of the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.options.public import public
from mipaudit.reproductions.figures.humphries_fig1 import HUMPHRIES_FIG1
from mipaudit.reproductions.figures.humphries_fig6 import HUMPHRIES_FIG6
from mipaudit.reproductions.figures.humphries_people import (
    HUMPHRIES_FIG2,
    HUMPHRIES_FIG3,
    HUMPHRIES_FIG4,
)
from mipaudit.reproductions.figures.izzo_fig1 import IZZO_FIG1
from mipaudit.reproductions.figures.izzo_fig2 import IZZO_FIG2
from mipaudit.reproductions.figures.lecture_thm2 import LECTURE_THM2
from mipaudit.reproductions.figures.yeom_fig2 import YEOM_FIG2
from mipaudit.reproductions.mace.fig2 import MACE_FIG2
from mipaudit.reproductions.mace.fig3 import MACE_FIG3
from mipaudit.reproductions.mace.fig4 import MACE_FIG4
from mipaudit.reproductions.mace.fig5 import MACE_FIG5
from mipaudit.reproductions.mace.fig6 import MACE_FIG6
from mipaudit.reproductions.mace.fig7 import MACE_FIG7
from mipaudit.reproductions.options import FigureOptions

if TYPE_CHECKING:
    from mipaudit.reproductions.report import ReproducedFigure
    from mipaudit.reproductions.reproduction import Array, Limits, Needs, Reproduction

_SOURCES: Final = {
    "adult": "Give the Adult (census income) data of the UCI machine learning repository.",
    "compas": "Give ProPublica's two-year COMPAS scores, compas-scores-two-years.csv.",
}
_ADULT_COLUMNS: Final = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)
REPRODUCTIONS: Final[tuple[Reproduction, ...]] = (
    IZZO_FIG1,
    IZZO_FIG2,
    HUMPHRIES_FIG1,
    HUMPHRIES_FIG2,
    HUMPHRIES_FIG3,
    HUMPHRIES_FIG4,
    HUMPHRIES_FIG6,
    MACE_FIG2,
    MACE_FIG3,
    MACE_FIG4,
    MACE_FIG5,
    MACE_FIG6,
    MACE_FIG7,
    YEOM_FIG2,
    LECTURE_THM2,
)


def list_reproductions() -> tuple[tuple[str, str, str], ...]:
    """Return id, title and source of every figure that :func:`reproduce` knows."""
    return tuple((one.id, one.title, one.source) for one in REPRODUCTIONS)


def reproducible(*, adult: bool = False, compas: bool = False) -> tuple[str, ...]:
    """Return the ids that need no file, or only those that are at hand."""
    given = {None, *(["adult"] if adult else []), *(["compas"] if compas else [])}
    return tuple(one.id for one in REPRODUCTIONS if one.needs in given)


def answer_reproduce(asked: FigureOptions) -> ReproducedFigure:
    """Return a figure of a paper, computed anew, with what the paper says beside it.

    Raises:
        UsageError: there is no such figure, or the file that it needs was not given.
        InputError: the file is not what it should be.
        MissingExtraError: figures with DP-SGD need dp-accounting.
    """
    from mipaudit.reproductions.report import ReproducedFigure
    from mipaudit.reproductions.reproduction import Bench

    found = find_reproduction(asked.figure)
    table = read_needed(found, adult=asked.adult, compas=asked.compas)

    def advance(share: float) -> None:
        if asked.progress is not None:
            asked.progress(round(1000 * min(1.0, share)), 1000)

    bench = Bench(seed=asked.seed, quick=asked.quick, audit=_audit, advance=advance, table=table)
    return ReproducedFigure(
        id=found.id,
        title=found.title,
        source=found.source,
        shows=found.shows,
        claim=found.claim,
        seed=asked.seed,
        quick=asked.quick,
        outcome=found.run(bench),
    )


def require_files(
    figures: tuple[str, ...],
    *,
    adult: str | None,
    compas: str | None,
) -> None:
    """Check all ids, and the files that they need, before anything is computed.

    Raises:
        UsageError: an id is unknown, or a file is not given.
        InputError: a file is not what it should be.
        MissingExtraError: figures with DP-SGD need dp-accounting.
    """
    from mipaudit.reproductions.models.guarantees import epsilon_of_dp_sgd
    from mipaudit.reproductions.models.people import adult_people, compas_people

    chosen = [find_reproduction(figure) for figure in figures]
    if any(found.accounts for found in chosen):
        # Dear to find out in the midst of it: that dp-accounting is not there.
        epsilon_of_dp_sgd(noise=1.0, share=1.0, steps=1, delta=0.1)
    checked = set()
    for found in chosen:
        if found.needs is None or found.needs in checked:
            continue
        table = read_needed(found, adult=adult, compas=compas)
        {"adult": adult_people, "compas": compas_people}[found.needs](table)
        checked.add(found.needs)


def read_needed(found: Reproduction, *, adult: str | None, compas: str | None) -> Any:  # noqa: ANN401 - a data frame, or None
    """Return the table that a reproduction needs, or None."""
    if found.needs is None:
        return None
    path = {"adult": adult, "compas": compas}[found.needs]
    if path is None:
        raise UsageError(
            f"{found.needs}_needed",
            f"{found.id} needs a file: `{found.needs}`.",
            hint=_SOURCES[found.needs],
        )
    return _table(path, found.needs)


def _table(path: str, needs: Needs) -> Any:  # noqa: ANN401 - a data frame
    """Read a CSV or Parquet file; the Adult data may lack its line of names."""
    import pandas as pd

    try:
        if path.endswith(".parquet"):
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, skipinitialspace=True)
            names = [str(name).strip() for name in table.columns]
            if needs == "adult" and len(names) == len(_ADULT_COLUMNS) and "education" not in names:
                table = pd.read_csv(
                    path, skipinitialspace=True, header=None, names=list(_ADULT_COLUMNS)
                )
    except FileNotFoundError:
        raise InputError(
            "no_such_file",
            f"There is no file {path!r}, which `{needs}` names.",
            hint=_SOURCES[needs],
        ) from None
    except (OSError, ValueError, UnicodeError):
        raise InputError(
            f"unreadable_{needs}",
            f"The file for `{needs}` cannot be read as CSV or Parquet.",
            hint=_SOURCES[needs],
        ) from None
    table.columns = [_plain(str(name)) for name in table.columns]
    return table


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_").replace(" ", "_")


def _audit(members: Array, holdout: Array, *, prior: float = 0.5) -> Limits:
    """Audit one score of one number or several, as a user would."""
    from mipaudit.reproductions.reproduction import Limits

    one = members.ndim == 1
    if one:
        report = mipaudit.estimate(members=members, holdout=holdout, prior=prior, method="kde")
    else:
        import pandas as pd

        names = [f"score_{place}" for place in range(members.shape[1])]
        frames = (pd.DataFrame(side, columns=names) for side in (members, holdout))
        report = mipaudit.estimate(
            **dict(zip(("members", "holdout"), frames, strict=True)),
            prior=prior,
            score_col=(",".join(names),),
        )
    rows = [row for row in report.estimates if row.quantity == "advantage"]
    published = [row.value for row in rows if row.validity == "not-an-interval"]
    sound = [row for row in rows if row.validity != "not-an-interval"]
    lower = next(row.lower for row in sound if row.attackers == "any" and row.lower is not None)
    upper = [row.upper for row in sound if row.attackers == "thresholds"]
    return Limits(
        lower=lower,
        thresholds=1.0 if not upper or upper[0] is None else upper[0],
        kernel=published[0] if one and published else None,
    )


def find_reproduction(name: str) -> Reproduction:
    """Return a reproduction by its id.

    Raises:
        UsageError: ``unknown_figure``: there is none of that id.
    """
    found = next((one for one in REPRODUCTIONS if one.id == name), None)
    if found is None:
        from difflib import get_close_matches

        close = get_close_matches(name, [one.id for one in REPRODUCTIONS], n=1)
        raise UsageError(
            "unknown_figure",
            "There is no reproduction of that name.",
            hint=(f"Did you mean {close[0]}? " if close else "")
            + "mipaudit reproduce --list shows them all.",
        )
    return found


reproduce = public(FigureOptions, answer_reproduce)
