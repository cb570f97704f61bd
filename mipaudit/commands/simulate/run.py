"""``mipaudit simulate``: score files with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final, get_args

from mipaudit.errors import UsageError
from mipaudit.options.plain_values import number, one_of, require, whole
from mipaudit.validation.truth import Order, ScenarioList, TruthReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from mipaudit.reading.rows.output import RowFormat
    from mipaudit.statements.origin import Setting
    from mipaudit.validation.scenarios.drawing import Drawing

_SIZES: Final = {
    "n_members": "members",
    "n_holdout": "holdout",
    "n_canaries": "canaries",
    "n_splits": "splits",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """A simulated table, and what is true of it.

    Attributes:
        table: an Arrow table, as ``estimate`` takes it (as ``noise`` does, for splits).
        truth: everything that is known.
    """

    table: pa.Table
    truth: TruthReport


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """A table that is yet to be drawn, and what will be true of it."""

    drawing: Drawing
    truth: TruthReport

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Draw the table and write it, a chunk at a time."""
        from mipaudit.reading.rows.output import write_rows

        write_rows(file, self.drawing.chunks(), form, columns=self.truth.columns)


def simulate(  # noqa: PLR0913 - one keyword for each setting
    scenario: str,
    *,
    n_members: int | None = None,
    n_holdout: int | None = None,
    n_canaries: int | None = None,
    n_splits: int | None = None,
    prior: float = 0.5,
    seed: int = 0,
    order: Order = "shuffled",
    settings: Sequence[Setting] | None = None,
) -> Simulated:
    """Draw a table of which the truth is known.

    Args:
        scenario: its name; :func:`list_scenarios` has them all. Some names carry
            parameters: ``laplace-2.5``.
        n_members: members to draw, at least 1; by default what the scenario says.
        n_holdout: holdout records to draw, likewise.
        n_canaries: canaries to draw, for one-run designs.
        n_splits: random splits to draw, for tables of splits.
        prior: probability that a challenged record is a member, in (0, 1); the truth
            depends on it, the table does not.
        seed: at least 0; the same seed draws the same table.
        order: of the rows: ``shuffled``, ``sorted`` by the (first) score, ``members-first``.
        settings: where each setting came from; by default, from this call.

    Raises:
        UsageError: there is no such scenario, or a setting is out of its range.
    """
    given = {name: value for name, value in locals().items() if name != "settings"}
    from mipaudit.reading.rows.output import table_of

    planned = simulation(settings=settings, **given)
    table = table_of(planned.drawing.chunks(), columns=planned.truth.columns)
    return Simulated(table=table, truth=planned.truth)


def simulation(
    scenario: str,
    *,
    prior: float,
    seed: int,
    order: Order,
    settings: Sequence[Setting] | None,
    **sizes: int | None,
) -> Simulation:
    """Check the settings of :func:`simulate`, and return what can be drawn."""
    from mipaudit.statements.provenance import provenance, settings_from
    from mipaudit.validation.scenarios.catalogue import scenario as find
    from mipaudit.validation.scenarios.drawing import Drawing

    if settings is None:
        given = {"scenario": scenario, **sizes, "prior": prior, "seed": seed, "order": order}
        settings = settings_from(given, source="api")
    require(isinstance(scenario, str), "scenario", "The scenario is given by its name.")
    found = find(scenario)
    chance, start = _prior(prior), _seed(seed)
    one_of("order", order, get_args(Order))
    rows = _rows(found.name, found.sizes, sizes)
    _check_order(order, found.kind, sum(rows.values()))
    splits = found.kind == "splits"
    truth = TruthReport(
        command="simulate",
        scenario=found.name,
        summary=found.summary,
        heading=found.heading,
        kind=found.kind,
        parameters=dict(found.parameters),
        columns=found.columns,
        rows=rows,
        order=None if splits else order,
        prior=None if splits else chance,
        truths=found.truths(chance),
        notes=found.notes,
        provenance=provenance(seed=start, inputs=(), settings=settings),
    )
    drawing = Drawing(scenario=found, rows=rows, order=order, seed=start)
    return Simulation(drawing=drawing, truth=truth)


def list_scenarios() -> ScenarioList:
    """Return all scenarios that :func:`simulate` knows, and the form of their names."""
    from mipaudit.statements.provenance import provenance
    from mipaudit.validation.scenarios.catalogue import listing

    return ScenarioList(
        command="simulate --list",
        scenarios=listing(),
        provenance=provenance(seed=None, inputs=(), settings=()),
    )


def _prior(value: object) -> float:
    prior = number("prior", value)
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    return prior


def _seed(value: object) -> int:
    seed = whole("seed", value)
    require(seed >= 0, "seed", "The seed must be a whole number, at least 0.")
    return seed


def _rows(name: str, default: Mapping[str, int], given: Mapping[str, Any]) -> dict[str, int]:
    """Return how many rows of each class to draw."""
    from mipaudit.validation.scenarios.drawing import LARGEST

    rows = dict(default)
    for setting, value in given.items():
        if value is None:
            continue
        if _SIZES[setting] not in default:
            wanted = " and ".join(_option(key) for key, what in _SIZES.items() if what in default)
            raise UsageError(
                setting,
                f"{_option(setting)} has no meaning for the scenario {name}.",
                hint=f"Its size is set by {wanted}.",
            )
        size = whole(setting, value)
        require(
            1 <= size <= LARGEST,
            setting,
            f"{_option(setting)} must be a whole number from 1 to {LARGEST:,}.",
        )
        rows[_SIZES[setting]] = size
    require(sum(rows.values()) <= LARGEST, "rows", f"At most {LARGEST:,} rows are drawn in all.")
    return rows


def _check_order(order: Order, kind: str, rows: int) -> None:
    from mipaudit.validation.scenarios.drawing import LARGEST_SORTED

    require(
        kind != "splits" or order == "shuffled",
        "order",
        "Random splits have no order: they are independent.",
        "Leave out --order.",
    )
    held = order == "sorted" or (kind == "canaries" and order != "shuffled")
    require(
        not held or rows <= LARGEST_SORTED,
        "order",
        f"Rows in the order {order} are held in memory: at most {LARGEST_SORTED:,} of them.",
        "Draw fewer, or leave out --order.",
    )


def _option(setting: str) -> str:
    return "--" + setting.replace("_", "-")
