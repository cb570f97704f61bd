"""The kinds of query, by the words that ask for them, and of distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["nn", "kth", "lnr", "mc", "share", "density", "classifier"]
Side = Literal["low", "high"]
Metric = Literal["euclidean", "gower"]
Scale = Literal["robust", "range"]

_DEFAULTS: Final[Mapping[str, int | None]] = {
    "nn": None,
    "kth": 5,
    "lnr": 2,
    "mc": None,
    "share": None,
    "density": 6,
    "classifier": None,
}
KINDS: Final = tuple(_DEFAULTS)
_WHOLE: Final[Mapping[str, tuple[int, int]]] = {
    "kth": (1, 1000),
    "lnr": (2, 1000),
    "density": (1, 20),
}
_RADIUS: Final = ("mc", "share")
_LOW: Final = ("nn", "kth", "lnr")
NEEDS_REFERENCE: Final = ("density", "classifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query.

    Attributes:
        kind: which.
        column: of its score.
        neighbours: up to which neighbour it looks; 0 for none.
        components: of the density.
        radius: of the ball; None for the median heuristic.
    """

    kind: Kind
    column: str
    neighbours: int = 0
    components: int = 0
    radius: float | None = None

    @property
    def side(self) -> Side:
        """On which side members are expected."""
        return "low" if self.kind in _LOW else "high"


def parse_queries(words: Sequence[str]) -> tuple[Query, ...]:
    """Return the queries that the words ask for: ``nn``, ``kth:5``, ``mc:0.1``, ...

    Raises:
        UsageError: ``query``, for a word that is none or that is there twice.
    """
    if not words:
        raise UsageError("query", "No query is named.", hint=f"Choose among: {_known()}.")
    found = tuple(map(_parse, words))
    columns = [query.column for query in found]
    if len(set(columns)) < len(columns):
        raise UsageError("query", "A query is named twice.", hint="Name each once.")
    return found


def _known() -> str:
    return ", ".join(KINDS)


def _parse(word: str) -> Query:
    kind, colon, text = word.partition(":")
    if kind not in _DEFAULTS:
        is_file = "." in kind or "/" in kind
        raise UsageError(
            "query",
            "A query is named that does not exist.",
            hint="Tables are given with `members`, `holdout` and `synthetic`."
            if is_file
            else f"Choose among: {_known()}.",
        )
    if kind in _RADIUS:
        return _ball(kind, text if colon else None)
    default = _DEFAULTS[kind]
    if default is None:
        if colon:
            raise UsageError("query", f"The query {kind} takes no number.", hint=f"Write: {kind}")
        return Query(kind=kind, column=kind, neighbours=int(kind == "nn"))  # type: ignore[arg-type]
    number = _whole(kind, text) if colon else default
    column = f"{kind}_{number}" if colon or kind == "kth" else kind
    if kind == "density":
        return Query(kind="density", column=column, components=number)
    return Query(kind=kind, column=column, neighbours=number)  # type: ignore[arg-type]


def _whole(kind: str, text: str) -> int:
    least, most = _WHOLE[kind]
    if text.isascii() and text.isdigit() and least <= int(text) <= most:
        return int(text)
    raise UsageError(
        "query",
        f"The number of {kind}:N must be a whole number from {least} to {most}.",
        hint=f"For example: {kind}:{_DEFAULTS[kind]}",
    )


def _ball(kind: str, text: str | None) -> Query:
    if text is None:
        return Query(kind=kind, column=kind)  # type: ignore[arg-type]
    try:
        radius = float(text)
    except ValueError:
        radius = -1.0
    if not 0 < radius < float("inf"):
        raise UsageError(
            "query",
            f"The radius of {kind}:R must be a finite number above 0.",
            hint=f"For example: {kind}:0.1, or {kind} alone for the median heuristic.",
        )
    short = f"{radius:g}"
    column = f"{kind}_{short if float(short) == radius else repr(radius)}"
    return Query(kind=kind, column=column, radius=radius)  # type: ignore[arg-type]
