"""What ``mipaudit query`` may be asked: kinds of query, by the words that ask for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal, get_args

from mipaudit.errors import UsageError
from mipaudit.options import game
from mipaudit.options.commands import MEANT, near
from mipaudit.options.declare import Options, act, choice, free
from mipaudit.options.game import Recorded
from mipaudit.options.scores import CHOSEN_SEED_OPTION, ChosenSeed, Followed, SeedGiven
from mipaudit.options.shown import OUTPUT_OPTION, Beside, Said
from mipaudit.options.values import column_list, path_of, require
from mipaudit.output.rows import RowFormat, record_format
from mipaudit.statements.printable_names import quoted_name

Kind = Literal["nn", "kth", "lnr", "mc", "share", "density", "classifier"]
Side = Literal["low", "high"]
Metric = Literal["euclidean", "gower"]
Scale = Literal["robust", "range"]

KINDS: Final = get_args(Kind)
_ALIKE: Final = 0.5
_KNOWN: Final = f"Choose among: {', '.join(KINDS)}."
BALLS: Final = ("mc", "share")
NEEDS_REFERENCE: Final = ("density", "classifier")
# Of kinds that take a number: by default, at least, at most.
_NUMBERS: Final = {"kth": (5, 1, 1000), "lnr": (2, 2, 1000), "density": (6, 1, 20)}
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LEAST_MEMORY: Final = 1 << 24
_RANGE: Final = ("takes one COLUMN=LOW:HIGH for each column", "For example: `range` age=17:90")


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
        return "low" if self.neighbours else "high"


def parse_queries(words: Sequence[str]) -> tuple[Query, ...]:
    """Return the queries that the words ask for: ``nn``, ``kth:5``, ``mc:0.1``, ...

    Raises:
        UsageError: ``query``, for a word that is none or that is there twice.
    """
    require(bool(words), "query", "No query is named.", _KNOWN)
    found = tuple(map(_parse, words))
    once = len({query.column for query in found}) == len(found)
    require(once, "query", "A query is named twice.", "Name each once.")
    return found


def _parse(word: str) -> Query:
    """Return the query that a word asks for."""
    kind: Any
    kind, colon, text = word.partition(":")
    if kind not in KINDS:
        raise UsageError("query", f"There is no query {quoted_name(kind)}.", meant_query(kind))
    if kind in BALLS:
        radius = _radius(kind, text) if colon else None
        return Query(
            kind=kind, column=f"{kind}_{_short(radius)}" if radius else kind, radius=radius
        )
    if kind not in _NUMBERS:
        require(not colon, "query", f"The query {kind} takes no number.", f"Write: {kind}")
        return Query(kind=kind, column=kind, neighbours=int(kind == "nn"))
    number, least, most = _NUMBERS[kind]
    if colon:
        require(
            text.isascii() and text.isdigit() and least <= int(text) <= most,
            "query",
            f"The number of {kind}:N must be a whole number from {least} to {most}.",
            f"For example: {kind}:{number}",
        )
        number = int(text)
    column = f"{kind}_{number}" if colon or kind == "kth" else kind
    if kind == "density":
        return Query(kind=kind, column=column, components=number)
    return Query(kind=kind, column=column, neighbours=number)


def meant_query(kind: str) -> str:
    """Return what to ask in place of a query that does not exist."""
    if "." in kind or "/" in kind:
        return "Tables are given with `members`, `holdout` and `synthetic`."
    if "," in kind:
        return "Separate queries by spaces: nn kth:5"
    numbered = re.fullmatch(r"(\w+?)[=_-]?(\d+)", kind)
    if numbered is not None and numbered[1] in {*_NUMBERS, *BALLS}:
        return f"Did you mean {numbered[1]}:{numbered[2]}?"
    meant = MEANT.get(kind.lower(), "")
    if meant.startswith("query "):
        return f"What others call {kind} is mipaudit {meant}."
    # So short that one letter of two is much alike.
    close = near(kind.lower(), (*KINDS, "losses", "lira"), _ALIKE)
    return _KNOWN if close is None else f"Did you mean {close}? {_KNOWN}"


def _short(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _radius(kind: Kind, text: str) -> float:
    """Return the radius of a ball, finite and above 0."""
    try:
        radius = float(text)
    except ValueError:
        radius = -1.0
    require(
        0 < radius < float("inf"),
        "query",
        f"The radius of {kind}:R must be a finite number above 0.",
        f"For example: {kind}:0.1. With {kind} alone, R is the median of all nn distances.",
    )
    return radius


_columns: Any = partial(choice, default=(), metavar="COL,COL", read=column_list, repeated=True)


def _size(given: object) -> object:
    if not _LEAST_MEMORY <= _bytes(given) < float("inf"):
        raise ValueError("must be a size of at least 16M, such as 500M or 4G")
    return given


def _bytes(given: object) -> float:
    """Return the bytes that ``4G``, ``500M`` or a number stand for, -1 for anything else."""
    text = str(given).strip().upper().removesuffix("B").removesuffix("I")
    unit = text[-1:] if text[-1:] in "KMGT" else ""
    try:
        return float(text.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        return -1.0


def _ranges(given: Any) -> dict[str, tuple[float, float]]:  # noqa: ANN401 - typed, or of Python
    """Return the range of each column, typed or as Python has it."""
    pairs: list[tuple[str, Any]]
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        typed = [text.rpartition("=") for text in ([given] if isinstance(given, str) else given)]
        pairs = [(name, limits.split(":")) for name, _, limits in typed]
        if not all(name and len(limits) == 2 for name, limits in pairs):  # noqa: PLR2004
            raise ValueError(*_RANGE)
    if len(dict(pairs)) < len(pairs):
        raise ValueError(*_RANGE)
    return {name: _limits(pair) for name, pair in pairs}


def _limits(pair: Any) -> tuple[float, float]:  # noqa: ANN401
    try:
        low, high = map(float, pair)
    except (TypeError, ValueError):
        low = high = 0.0
    if not float("-inf") < low < high < float("inf"):
        raise ValueError("must be two finite numbers, the lower first", _RANGE[1])
    return low, high


def _complete(incomplete: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(incomplete)]


class _Kinds(Options, kw_only=False):
    kinds: Sequence[str] = free(
        "The queries: nn, kth:K, lnr:K, mc:R, share:R, density or classifier.",
        default=(),
        flag="QUERY...",
        complete=_complete,
    )


_TABLE: Final = {"read": path_of, "in_python": "Or a data frame or an Arrow table."}


class _Tables(Options):
    members: Any = game.MEMBERS_OPTION.but("The training records: CSV or Parquet.", **_TABLE)
    holdout: Any = game.HOLDOUT_OPTION.but("Records of the same source, not trained on.", **_TABLE)
    synthetic: Any = game.SYNTHETIC_OPTION.but(**_TABLE)
    reference: Any = game.REFERENCE_OPTION.but(**_TABLE)

    output: Any = OUTPUT_OPTION.but(
        "Write the scores to this file (.csv, .csv.gz, .parquet).",
        read=path_of,
        in_python="Or an open binary file; None writes nothing.",
    )
    output_format: RowFormat | None = act("The form of the file. None: by its name.", flag=None)
    columns: Sequence[str] = game.COLUMNS_OPTION.but(default=())
    ignore: Sequence[str] = game.IGNORE_OPTION.but(default=())
    categorical: Sequence[str] = _columns("Columns whose numbers are codes of categories.")
    range: Mapping[str, tuple[float, float]] | None = choice(
        "A column's lowest and highest value, known beforehand, as in age=17:90: differences in "
        "this column are divided by HIGH - LOW. Repeat for each column.",
        metavar="COL=LOW:HIGH",
        recorded_as="ranges",
        read=_ranges,
        repeated=True,
        in_python="As {'age': (17, 90)}.",
    )
    # The last name is the key in a policy file, where `metric` is that of `estimate`.
    metric: Metric = choice(
        "How column differences combine: root of the sum of squares (euclidean), or mean (gower).",
        default="euclidean",
        flag="--metric/--distance-metric",
    )
    scale: Scale = choice(
        "Divide a column's differences by a range: that of the middle 90% of its numbers (robust), "
        "or of all its numbers (range).",
        default="robust",
        flag="--scale/--number-scale",
    )
    encode_on: Literal["synthetic", "reference"] = choice(
        "The table from which `scale` takes the range.", default="synthetic"
    )
    memory: str | int = free(
        "About how much memory to use, such as 500M.",
        default="4G",
        metavar="SIZE",
        read=_size,
        in_python="Or in bytes.",
    )


class _Search(ChosenSeed):
    seed: SeedGiven = CHOSEN_SEED_OPTION.but(
        "Random seed for density and classifier. fresh draws one. Default: computed from the rows."
    )
    keep: Sequence[str] = _columns("Columns to copy to the score file, such as keys and groups.")


class QueryShown(Beside, Said):
    """How the report is shown, and where."""


class QueryOptions(_Kinds, _Tables, _Search, Followed, Recorded):
    """Tables of records, and the queries to ask of them."""

    HELP = """Make a score file from tables: how close is the synthetic table to each record?

Give three tables: the records that the generator was trained on (members), other records from the
same source (holdout), and the released records (synthetic). Each query gives every member and
holdout record a score. Then audit the score file with mipaudit estimate.

\b
What each query computes for a record. Members are expected to score [low] or [high]:
  nn          distance to the nearest synthetic record [low]
  kth:K       distance to the K-th nearest synthetic record [low]
  lnr:K       distance to the nearest divided by the distance to the K-th nearest [low]
  mc:R        a sum over the synthetic records within distance R: closer ones add more [high]
  share:R     share of the synthetic records that are within distance R [high]
  density     how dense synthetic records are near it, compared with --reference (DOMIAS) [high]
  classifier  how sure a classifier is that it is synthetic, not a reference record [high]
Without a number, K is 5 for kth and 2 for lnr; R is the middle (median) of all nn distances.

\b
Examples:
  mipaudit query nn --members m.parquet --holdout h.parquet --synthetic s.parquet -o nn.parquet
      The distance from every record to its nearest synthetic record.
  mipaudit query nn mc kth:5 lnr --members m.csv --holdout h.csv --synthetic s.csv -o all.csv
      Several queries at once, each in its own column.
  mipaudit query density classifier --reference r.csv --members m.csv --holdout h.csv \
--synthetic s.csv -o ratio.csv --ignore zip
      Compares with reference records. Leaves the column zip out.
  mipaudit query nn --members m.csv --holdout h.csv --synthetic s.csv --keep person,sex -o nn.csv
      Copies columns person and sex to the score file, as other commands may need them.
"""

    def check(self) -> None:
        """Refuse queries that are none, and what they lack or cannot be asked of."""
        queries, _ = self.queries, self.form
        super().check()
        both = set(self.columns) & set(self.ignore)
        require(not both, "two_roles", "A column is in both `columns` and `ignore`.")
        both = set(self.categorical) & set(self.range or {})
        require(not both, "two_roles", "A column is in both `range` and `categorical`.")
        for role in ("members", "holdout", "synthetic"):
            given = getattr(self, role) is not None
            require(given, role, f"The {role} table is missing.", f"Add `{role}` FILE.")
        if self.reference is None:
            compared = [one.kind for one in queries if one.kind in NEEDS_REFERENCE]
            require(
                not compared,
                "needs_reference",
                f"The query {', '.join(compared[:1])} needs reference records, which are neither "
                "members nor holdout.",
                "Give a table of them with `reference`, or leave the query out.",
            )
            require(
                self.encode_on != "reference",
                "needs_reference",
                "Scales cannot come from the reference table: there is none.",
                "Give it with `reference`.",
            )

    @property
    def memory_bytes(self) -> int:
        """How many bytes may be used."""
        return int(_bytes(self.memory))

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """What is asked, parsed."""
        return parse_queries(self.kinds)

    @property
    def tables(self) -> dict[str, Any]:
        """The tables that are given, by role."""
        roles = ("members", "holdout", "synthetic", "reference")
        return {role: table for role in roles if (table := getattr(self, role)) is not None}

    @property
    def form(self) -> RowFormat | None:
        """The form of the score file; None for no file."""
        return record_format(self.output, self.output_format, what="scores", example="scores")
