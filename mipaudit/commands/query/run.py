"""``mipaudit query``: tables of records to scores."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.options.plain_values import one_of, path_of, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import BinaryIO

    from mipaudit.commands.query.answer import QueryTerms
    from mipaudit.commands.query.report import QueryReport
    from mipaudit.commands.query.search.points import Metric
    from mipaudit.commands.query.tables.encoding import Scale
    from mipaudit.statements.origin import Setting

    Source = str | PathLike[str] | Any

MEMORY: Final = "4G"
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def query(  # noqa: PLR0913 - one keyword for each setting
    kinds: Sequence[str] | str,
    *,
    members: Source,
    holdout: Source,
    synthetic: Source,
    reference: Source = None,
    output: str | PathLike[str] | BinaryIO | None = None,
    output_format: str | None = None,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categorical: Sequence[str] = (),
    ranges: Mapping[str, tuple[float, float]] | None = None,
    metric: Metric = "euclidean",
    scale: Scale = "robust",
    encode_on: Literal["synthetic", "reference"] = "synthetic",
    memory: str | int = MEMORY,
    seed: int | Literal["fresh"] | None = None,
    approximate: bool = False,
    keep: Sequence[str] = (),
    progress: Callable[[int, int | None], None] | None = None,
    settings: Sequence[Setting] | None = None,
) -> QueryReport:
    """Score members and holdout records by queries against synthetic records.

    The score file has one row for each record, members first, in the order of the tables:
    the column ``member`` and one for each query.

    Args:
        kinds: ``nn``, ``kth:K``, ``lnr``, ``mc``, ``mc:RADIUS``, ``share``, ``density`` and
            ``classifier``, one or several.
        members: records that were in the training data: a path, or a frame.
        holdout: records that were not.
        synthetic: what was released.
        reference: records of neither, for ``density`` and ``classifier``.
        output: the score file, a path or an open binary file; None writes nothing.
        output_format: ``csv``, ``csv.gz`` or ``parquet``; by default by the file's name.
        columns: what to compare; by default all columns of the synthetic table but row
            labels and membership.
        ignore: columns that are left out.
        categorical: columns of numbers that are categories.
        ranges: (low, high) of columns of numbers, known beforehand: that difference is 1.
        metric: ``euclidean`` or ``gower``.
        scale: a difference of 1 is the ``robust`` range, 5% to 95%, or the full ``range``.
        encode_on: ``synthetic`` or ``reference``: where scales come from.
        memory: about how much may be used, in bytes, or as ``"4G"``.
        seed: decides with the synthetic and reference rows, whatever their order, the draws of
            ``density`` and ``classifier``, and of an approximate search; ``fresh`` for one of
            the operating system.
        approximate: search neighbours for ``nn``, ``kth`` and ``lnr`` approximately, by faiss
            (extra ``approximate``): faster, and distances may be too long. The report says
            how often.
        keep: columns of members and holdout that go to the score file beside the scores, such
            as a record's key, a person or a group.
        progress: told how much of how much is done.
        settings: where each setting came from; by default, from this call.

    Raises:
        UsageError: a setting is out of its range, or a query needs a reference.
        InputError: the tables cannot be compared.
        OutputError: the score file cannot be written.
        MissingExtraError: faiss is not installed.
    """
    given = {
        name: value
        for name, value in locals().items()
        if name not in {*_INPUTS, "output", "output_format", "progress", "settings"}
    }
    from mipaudit.commands.query.answer import QueryTerms
    from mipaudit.commands.query.kind import parse_queries
    from mipaudit.commands.query.tables_to_scores import run_query
    from mipaudit.options.seed_choice import seed_choice
    from mipaudit.reading.rows.record_file import record_file
    from mipaudit.statements.provenance import settings_from

    begun = time.perf_counter()
    queries = parse_queries((kinds,) if isinstance(kinds, str) else tuple(kinds))
    form = score_format(output, output_format)
    terms = QueryTerms(
        queries=queries,
        columns=tuple(columns),
        ignore=tuple(ignore),
        categorical=tuple(categorical),
        ranges=_ranges(ranges or {}),
        metric=metric,
        scale=scale,
        encode_on=encode_on,
        memory=memory_bytes(memory),
        seed=seed_choice(seed),
        approximate=approximate,
        keep=tuple(keep),
    )
    _check(terms)
    _check_approximate(terms)
    sources = {
        "members": path_of(members),
        "holdout": path_of(holdout),
        "synthetic": path_of(synthetic),
        "reference": path_of(reference),
    }
    _check_sources(terms, sources)
    if settings is None:
        settings = settings_from(given, source="api")
    answer = run_query(terms, {k: v for k, v in sources.items() if v is not None}, progress)
    report = answer.report(settings, begun=begun, output=output)
    if form is not None:
        with record_file(output, inputs=sources.values()) as file:
            answer.write(file, form)
    return report


def _check_sources(terms: QueryTerms, sources: Mapping[str, Any]) -> None:
    from mipaudit.commands.query.kind import NEEDS_REFERENCE

    for role in ("members", "holdout", "synthetic"):
        require(sources[role] is not None, role, f"The {role} table is missing.", f"Give --{role}.")
    piped = [source for source in sources.values() if isinstance(source, str) and source == "-"]
    require(
        len(piped) < 2,  # noqa: PLR2004
        "two_stdin",
        "Only one table can be standard input.",
        "Write the others to files first.",
    )
    compared = [one.kind for one in terms.queries if one.kind in NEEDS_REFERENCE]
    alone = sources["reference"] is None
    require(
        not (alone and compared),
        "needs_reference",
        f"The query {compared[0] if compared else ''} compares with records of neither class.",
        "Give a table of them with --reference, or leave the query out.",
    )
    require(
        not (alone and terms.encode_on == "reference"),
        "needs_reference",
        "Scales cannot come from the reference table: there is none.",
        "Give it with --reference.",
    )


def _check_approximate(terms: QueryTerms) -> None:
    if not terms.approximate:
        return
    balls = [one.column for one in terms.queries if one.kind in {"mc", "share"}]
    require(
        not balls,
        "approximate",
        f"The query {balls[0] if balls else ''} counts all records in a ball: it has no "
        "approximate form.",
        "Ask it in a run of its own, without --approximate.",
    )
    near = any(one.neighbours for one in terms.queries)
    require(near, "approximate", "No query looks for neighbours.", "Leave --approximate out.")
    from mipaudit.commands.query.search.approximate import require_faiss

    require_faiss()


_INPUTS: Final = ("members", "holdout", "synthetic", "reference")


def score_format(output: Any, given: str | None) -> Any:  # noqa: ANN401 - any file
    """Return the form of the score file, None for no file.

    Raises:
        UsageError: neither the name nor ``given`` says which.
    """
    from mipaudit.reading.rows.output import SUFFIXES, row_format

    if output is None:
        return None
    name = path_of(output)
    found = given if given is not None else row_format(name if isinstance(name, str) else "")
    require(
        found in SUFFIXES.values(),
        "output",
        "The scores go to a file that ends in .csv, .csv.gz or .parquet.",
        "For example: -o scores.parquet. The report itself goes to standard output.",
    )
    return found


def shown_name(output: str | None) -> str:
    """Return a file's name, safe to print."""
    from mipaudit.statements.text.printable_names import safe_name

    return safe_name(output or "SCORES", longest=400)


def memory_bytes(given: object) -> int:
    """Return the bytes that ``4G``, ``500M`` or a number stand for.

    Raises:
        UsageError: it is none of those, or less than 16 MiB.
    """
    text = str(given).strip().upper().removesuffix("B").removesuffix("I")
    unit = text[-1:] if text[-1:] in "KMGT" else ""
    digits = text.removesuffix(unit)
    try:
        size = float(digits) * _UNITS[unit]
    except ValueError:
        size = -1.0
    require(
        (1 << 24) <= size < float("inf"),
        "memory",
        "--memory must be a size of at least 16M, such as 500M or 4G.",
    )
    return int(size)


def _ranges(given: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    from mipaudit.options.plain_values import pair

    found: dict[str, tuple[float, float]] = {}
    for name, value in given.items():
        both = pair("ranges", value)
        require(
            both is not None and float("-inf") < both[0] < both[1] < float("inf"),
            "ranges",
            "A range must be two finite numbers, the lower first.",
            "For example: --range age=17:90",
        )
        if both is not None:
            found[name] = both
    return found


def _check(terms: QueryTerms) -> None:
    from mipaudit.commands.query.search.points import Metric
    from mipaudit.commands.query.tables.encoding import Scale

    one_of("metric", terms.metric, get_args(Metric))
    one_of("scale", terms.scale, get_args(Scale))
    one_of("encode_on", terms.encode_on, ("synthetic", "reference"))
