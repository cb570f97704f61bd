"""``mipaudit verify``: a report computed again from its scores and settings, and compared."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

from mipaudit.commands.verify.options import VerifyOptions
from mipaudit.errors import InputError
from mipaudit.options.plain_values import Given, require
from mipaudit.options.public import public
from mipaudit.options.recorded import function_of, recorded_keywords
from mipaudit.options.spelling import unspelled
from mipaudit.statements.provenance import as_of, time_of
from mipaudit.statements.reports.kinds import kind_of
from mipaudit.summaries.identity.seed import SeedChoice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from mipaudit.commands.verify.report import VerifyReport
    from mipaudit.statements.origin import Provenance
    from mipaudit.statements.reports.any_report import AnyReport

# A report of a kind that the caller knows.
Stored: TypeAlias = Any
_OF_SEVERAL: Final = frozenset({"estimate", "compare", "compare reports"})
_FROM_COUNTS: Final = ("tp", "canaries")
# What went to a file of its own, if the report lacks it.
_APART: Final[Mapping[str, str]] = {"bounds": "curves", "epsilon": "profile"}


def answer_verify(asked: VerifyOptions) -> VerifyReport:
    """Say whether a report follows from the scores and settings that it names.

    Of an in-toto Statement that `render` wrote: whether it speaks of the released files that
    are there, and follows from the report beside it; and that as above, with its scores.

    Reports of ``estimate``, ``check``, ``epsilon``, ``records``, ``compare``, ``shift``,
    ``query``, ``bounds`` and of ``noise`` without splits are computed again, with the
    settings that they record; also the verdict of a report that was judged again.

    Raises:
        UsageError: the report is of another command, or the input is missing or superfluous.
        InputError: the report or the input cannot be read.
    """
    from mipaudit.reading.report_file import foreign, report_bytes

    with foreign(asked.report):
        return _verified(report_bytes(asked.report), asked)


def _verified(data: bytes, asked: VerifyOptions) -> VerifyReport:
    from mipaudit.commands.verify.agreement import verification
    from mipaudit.commands.verify.statement import statement_in, verify_statement
    from mipaudit.report.codec import from_json

    stated = statement_in(data)
    if stated is not None:
        return verify_statement(stated, asked, lambda report: recomputed(report, asked))
    require(
        not asked.subject,
        "needless_input",
        "Released files belong to a statement, and this is a report.",
        "Leave `subject` out.",
    )
    found = from_json(data)
    return verification(data, found, recomputed(found, asked), digest=sha256(data).hexdigest())


def recomputed(report: AnyReport, asked: VerifyOptions) -> AnyReport:
    """Return the report that the same command makes now, as of the time of the report.

    Raises:
        UsageError: it cannot be computed again, or not from what is given.
        InputError: the scores cannot be read, or a setting cannot be read back.
    """
    command, made_of = report.command, kind_of(report.command).made_of
    require(
        made_of is not None,
        "not_verifiable",
        f"A report of {command} cannot be verified.",
        "Run the command again on the same files, and compare what it writes."
        if command.startswith("query")
        else "Run the command again with the same seed.",
    )
    keywords = recorded_keywords(command, report.provenance.settings)
    keywords["settings"] = report.provenance.settings
    if made_of in {"scores", "tables"}:  # whose rows the seeds in use follow from
        keywords["seed"] = _seed_of(report.provenance, keywords.get("seed"))
    require(
        made_of == "tables" or (asked.synthetic is None and asked.reference is None),
        "needless_input",
        "Synthetic and reference records belong to a report of query.",
        "Leave `synthetic` and `reference` out.",
    )
    if made_of == "tables":
        _require_tables(report, asked)
    else:
        _require_scores(report, keywords, asked)
    function = unspelled(function_of(command))
    # Rows that the command writes are counted; here nobody keeps them.
    with _as_of(report.provenance.created, report), open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        inputs, given = _given_anew(report, asked, nowhere)
        found: AnyReport = function(*inputs, **keywords, **given)
    same_kind: AnyReport = _as_it_was(report, found)
    return same_kind


def _seed_of(provenance: Provenance, stated: Given) -> Given:
    """Return the seed that a report was made with: that of its settings, or the fresh one.

    Raises:
        InputError: ``bad_report``: the seed is not one that mipaudit writes.
    """
    if provenance.seed_origin != "fresh":
        return stated
    if provenance.seed is None or provenance.seed < 0 or stated not in {None, "fresh"}:
        raise InputError(
            "bad_report",
            "The seed of the report is not in the form that mipaudit writes.",
            hint="Use the file as the command wrote it.",
        )
    return SeedChoice(origin="fresh", number=provenance.seed)


def _require_tables(report: Stored, asked: VerifyOptions) -> None:
    """Refuse scores for a report of query, and another number of tables than it is of."""
    require(
        not asked.input and asked.claimed_curve is None,
        "needless_input",
        "A report of query is verified from the tables, not from scores.",
        "Give `members`, `holdout` and `synthetic`, and `reference` if there was one.",
    )
    used = any(table.role == "reference" for table in report.tables)
    require(
        used == (asked.reference is not None),
        "reference",
        f"The report was made with{'' if used else 'out'} a reference table.",
        "Add `reference` FILE." if used else "Leave `reference` out.",
    )


def _require_scores(report: AnyReport, keywords: dict[str, Any], asked: VerifyOptions) -> None:
    """Refuse scores for a report that has none, and none for one that has."""
    command = report.command
    named = {one.name for one in report.provenance.settings if one.value is not None}
    counted = command == "epsilon" and any(keywords.get(name) is not None for name in _FROM_COUNTS)
    wanted = kind_of(command).made_of != "nothing" and not counted
    claimed = "claimed_curve" in named
    require(
        command != "noise"
        or not (report.provenance.inputs or {"splits", "pairs", "release"} & named),
        "not_verifiable",
        "A report of noise that was made from splits cannot be verified.",
        "Run the command again on the same splits.",
    )
    require(
        command != "shift" or (asked.has_scores and not asked.input),
        "no_input",
        "A report of shift is verified from the two tables of records.",
        "Give `members` FILE `holdout` FILE.",
    )
    require(
        not wanted or asked.has_scores,
        "no_input",
        "The scores are needed to compute the report again.",
        "Add `input` SCORES, or `members` FILE `holdout` FILE.",
    )
    require(
        wanted or not asked.has_scores,
        "needless_input",
        "The report was made without scores: it is verified without them too.",
        "Leave `input`, `members` and `holdout` out.",
    )
    require(
        claimed == (asked.claimed_curve is not None),
        "claimed_curve",
        "The report is about a claimed ROC: its file is needed."
        if claimed
        else "The report is not about a claimed ROC.",
        "Add `claimed_curve` FILE." if claimed else "Leave `claimed_curve` out.",
    )
    require(
        command in _OF_SEVERAL or len(asked.input) <= 1,
        "one_input",
        "The report is of one input.",
        "Give `input` once; only reports of compare and estimate take several.",
    )


def _given_anew(
    report: Stored, asked: VerifyOptions, nowhere: BinaryIO
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the inputs of the command, and what else it takes that no report records."""
    command, made_of = report.command, kind_of(report.command).made_of
    if made_of == "nothing":
        return (), {}
    given = {"members": asked.members, "holdout": asked.holdout, "progress": asked.progress}
    if made_of == "tables":
        return (), {**given, "synthetic": asked.synthetic, "reference": asked.reference}
    given["jobs"] = asked.jobs
    if asked.claimed_curve is not None:
        given["claimed_curve"] = asked.claimed_curve
    if command == "records" and report.rows_written is not None:
        given |= {"output": nowhere, "output_format": "csv"}
    if command == "estimate" and report.blind is not None:
        # What it took from the report of shift, which has a verification of its own.
        given["blind"] = report.blind
    several = command == "estimate" and len(asked.input) > 1
    return (asked.input,) if several else tuple(asked.input), given


def _as_it_was(report: Stored, found: Stored) -> Stored:
    """Return what was computed now, judged again and without what went elsewhere, as the report."""
    apart = _APART.get(report.command)
    if apart is not None and getattr(report, apart) is None:
        return replace(found, **{apart: None})
    if kind_of(report.command).made_of == "tables":
        # How the answer was found may differ, and where the scores went is not asked again.
        return replace(found, run=report.run, following=report.following)
    how = getattr(report, "rejudged", None)
    if report.command != "estimate" or how is None:
        return found
    from mipaudit.commands.render.run import rejudge

    given = recorded_keywords("rejudge", how.settings)
    with _as_of(how.created, report):
        return unspelled(rejudge)(found, **given, settings=how.settings)


def _as_of(created: str, report: AnyReport) -> AbstractContextManager[None]:
    """Let it be the time that a report names, on a day on which its waivers had expired.

    The day may be a later one than that of the time: SOURCE_DATE_EPOCH sets the time alone.
    """
    time = time_of(created)
    checks: Sequence[Any] = getattr(report, "policy", None) or ()
    ended = [one.expired.expires for one in checks if getattr(one, "expired", None) is not None]
    return as_of(time, max(time.date(), *map(_day_after, ended)) if ended else None)


def _day_after(day: str) -> date:
    try:
        return date.fromisoformat(day) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise InputError(
            "bad_report",
            "The last day of a waiver in the report is not in the form that mipaudit writes.",
            hint="Use the file as the command wrote it.",
        ) from None


verify = public(VerifyOptions, answer_verify)
