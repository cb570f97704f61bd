"""``mipaudit verify``: a report computed again from its scores and settings, and compared.

Of a statement: the released files, the report beside it, and what that rests on.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.commands.render.forms import hashed
from mipaudit.commands.verify import agreement
from mipaudit.commands.verify.options import VerifyOptions
from mipaudit.commands.verify.report import STATEMENT, VerifiedPart, VerifyReport
from mipaudit.errors import InputError, UsageError, bad_report
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import function_of, options_of, public, recorded_keywords
from mipaudit.options.values import Given, path_of, require
from mipaudit.output.stored_report import foreign, read_report, report_bytes
from mipaudit.report.codec import from_json, read_once
from mipaudit.report.exchange.others import PREDICATE, TYPE, statement, unread
from mipaudit.report.exchange.stored import File, Stored
from mipaudit.statements.kinds import kind_of
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import Provenance, as_of, provenance, time_of
from mipaudit.summaries.seed import SeedChoice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from mipaudit.statements.any_report import AnyReport

# A report of a kind that the caller knows.
OfAnyKind: TypeAlias = Any
_OF_SEVERAL: Final = frozenset({"estimate", "compare", "compare reports"})
_FILES: Final = ("input", "members", "holdout", "synthetic", "reference", "claimed_curve")
# What went to a file of its own, if the report lacks it.
_APART: Final[Mapping[str, str]] = {"bounds": "curves", "epsilon": "profile"}


def answer_verify(asked: VerifyOptions) -> VerifyReport:
    """Check whether a report follows from the scores and settings that it names.

    For an in-toto Statement from `render`, check that it names the released files that are there
    and follows from the report beside it. That report is checked as above, with its scores.

    Reports of ``estimate``, ``check``, ``epsilon``, ``records``, ``compare``, ``shift``,
    ``query``, ``bounds`` and of ``noise`` without splits are computed again, with the
    settings that they record; also the verdict of a report that was judged again.

    Raises:
        UsageError: the report is of another command, or the input is missing or superfluous.
        InputError: the report or the input cannot be read.
    """
    with foreign(asked.report):
        data = report_bytes(asked.report)
        stated = _statement_in(data)
        if stated is not None:
            return _verify_statement(stated, asked)
        require(
            not asked.subject,
            "needless_input",
            "`subject` is only for a statement, but this is a report.",
            "Leave `subject` out.",
        )
        found = from_json(data)
        again = recomputed(found, asked)
        return agreement.verification(data, found, again, digest=sha256(data).hexdigest())


def recomputed(report: OfAnyKind, asked: VerifyOptions) -> AnyReport:
    """Return the report that the same command makes now, as of the time of the report.

    Raises:
        UsageError: it cannot be computed again, or not from what is given.
        InputError: the scores cannot be read, or a setting cannot be read back.
    """
    command, made_of = report.command, kind_of(report.command).made_of
    stated = {one.name for one in report.provenance.settings if one.value is not None}
    # Noise made from splits, and reports of commands that make data.
    from_splits = command == "noise" and (
        report.provenance.inputs or stated & {"splits", "pairs", "release"}
    )
    require(
        made_of is not None and not from_splits,
        "not_verifiable",
        f"A report of {command}{' that was made from splits' * bool(from_splits)} cannot be "
        "verified.",
        "Run the command again on the same files, and compare what it writes."
        if from_splits or command.startswith("query")
        else "Run the command again with the same seed.",
    )
    keywords = recorded_keywords(command, report.provenance.settings)
    keywords["settings"] = report.provenance.settings
    if made_of in {"scores", "tables"}:  # whose rows the seeds in use follow from
        keywords["seed"] = _seed_of(report.provenance, keywords.get("seed"))
    _require_files(report, stated, asked)
    taken = {one.name for one in options_of(function_of(command))}
    beside = (*_FILES[1:], "progress", "jobs")
    keywords |= {name: getattr(asked, name) for name in beside if name in taken}
    if command == "estimate" and report.blind is not None:
        # What it took from the report of shift, which has a verification of its own.
        keywords["blind"] = report.blind
    inputs = (asked.input,) if command == "estimate" and len(asked.input) > 1 else asked.input
    function = function_of(command)
    with _as_of(report.provenance.created, report), open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        if command == "records" and report.rows_written is not None:
            # Rows that the command writes are counted; here nobody keeps them.
            keywords |= {"output": nowhere, "output_format": "csv"}
        return _as_it_was(report, function(*inputs, **keywords))


def _seed_of(provenance: Provenance, stated: Given) -> Given:
    """Return the seed that a report was made with: that of its settings, or the fresh one.

    Raises:
        InputError: ``bad_report``: the seed is not one that mipaudit writes.
    """
    if provenance.seed_origin != "fresh":
        return stated
    if provenance.seed is None or provenance.seed < 0 or stated not in {None, "fresh"}:
        raise bad_report("The seed of the report is not in the form that mipaudit writes.")
    return SeedChoice(origin="fresh", number=provenance.seed)


def _require_files(report: OfAnyKind, stated: set[str], asked: VerifyOptions) -> None:
    """Refuse what the report was not made of, and ask for what it was made of.

    Args:
        report: of a command that can be run again.
        stated: the names of its settings that have a value.
        asked: the files.
    """
    command, made_of = report.command, kind_of(report.command).made_of
    given = {name for name in _FILES if not _is_absent(getattr(asked, name))}
    scores: set[str] = set()
    if made_of == "tables":
        # The command says which of its tables it lacks.
        of_file, taken = "reference", {"members", "holdout", "synthetic"}
        needed = {of_file} & {one.role for one in report.tables}
    else:
        of_file, needed = "claimed_curve", stated & {"claimed_curve"}
        if made_of != "nothing" and not (command == "epsilon" and stated & {"tp", "canaries"}):
            scores = {"members", "holdout"} | (set() if command == "shift" else {"input"})
        taken = scores and {*scores, "input"}
    for name in sorted((needed ^ given) - taken):
        if name in needed:
            raise UsageError(
                of_file,
                f"The report of {command} was made with `{name}`, which is needed to compute it "
                "again.",
                f"Add `{name}` FILE.",
            )
        raise UsageError(
            of_file if name == of_file else "needless_input",
            f"The report of {command} was made without `{name}`.",
            f"Leave `{name}` out.",
        )
    files = "`members` FILE `holdout` FILE."
    require(
        not scores or (bool(scores & given) and given <= scores | needed),
        "no_input",
        f"To compute the report of {command} again, its inputs are needed.",
        f"Add `input` SCORES, or {files}" if "input" in scores else f"Add {files}",
    )
    require(
        command in _OF_SEVERAL or len(asked.input) <= 1,
        "one_input",
        "The report has one input.",
        "Give `input` once; only reports of compare and estimate take several.",
    )


def _is_absent(given: Given) -> bool:
    return given is None or (isinstance(given, tuple) and not given)


def _as_it_was(report: OfAnyKind, found: OfAnyKind) -> AnyReport:
    """Return what was computed now, judged again and without what went elsewhere, as the report."""
    apart = _APART.get(report.command)
    how = getattr(report, "rejudged", None)
    if apart is not None and getattr(report, apart) is None:
        found = replace(found, **{apart: None})
    elif kind_of(report.command).made_of == "tables":
        # How the answer was found may differ, and where the scores went is not asked again.
        kept = ("search", "classifier", "seconds", "following")
        found = replace(found, **{name: getattr(report, name) for name in kept})
    elif report.command == "estimate" and how is not None:
        from mipaudit.commands.render.run import rejudge

        given = recorded_keywords("rejudge", how.settings)
        with _as_of(how.created, report):
            found = rejudge(found, **given, settings=how.settings)
    same_kind: AnyReport = found
    return same_kind


def _as_of(created: str, report: AnyReport) -> AbstractContextManager[None]:
    """Let it be the time that a report names, on a day on which its waivers had expired.

    The day may be a later one than that of the time: SOURCE_DATE_EPOCH sets the time alone.
    """
    time = time_of(created)
    checks: Sequence[Any] = getattr(report, "policy", None) or ()
    ended = [one.expired.expires for one in checks if getattr(one, "expired", None) is not None]
    try:
        days = [date.fromisoformat(day) + timedelta(days=1) for day in ended]
    except (ValueError, OverflowError):
        raise bad_report(
            "The last day of a waiver in the report is not in the form that mipaudit writes."
        ) from None
    return as_of(time, max(time.date(), *days) if days else None)


def _statement_in(data: bytes) -> dict[str, Any] | None:
    """Return the in-toto Statement that a file holds; None for anything else."""
    try:
        found = read_once(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("_type") == TYPE else None


def _verify_statement(given: Mapping[str, Any], asked: VerifyOptions) -> VerifyReport:
    """Say whether a statement names the files that are there, and follows from its report.

    Args:
        given: the statement.
        asked: where the rest of it is.

    Raises:
        UsageError: what was given is no file, or belongs to nothing.
        InputError: it is no statement of `render`, or a file that it names is not there.
    """
    subjects, named = _stated(given)
    path = path_of(asked.report)
    folder = Path(path).parent if isinstance(path, str) and path != "-" else Path()
    parts = [*_subjects(subjects, [hashed(one) for one in asked.subject], folder)]
    stored = report_bytes(str(_beside(folder, named.name, "report", "Put it there.")))
    digest = sha256(stored).hexdigest()
    parts.append(_same("report", named, digest))
    computed = False
    findings: tuple[Finding, ...] = ()
    if digest == named.sha256:
        report = read_report(stored)
        findings = agreement.stale(report)
        with as_of(time_of(report.provenance.created)):
            again = json.loads(statement(Stored(report, named, subjects)))
        parts.append(agreement.values_part("contents", given, again, same_version=True))
        computed = asked.has_scores or not report.provenance.inputs
        if computed:
            anew = recomputed(report, asked)
            parts += agreement.verification(stored, report, anew, digest=digest).parts
        else:
            text = "not given, so the report was not computed again; give `input` SCORES for that"
            parts.append(agreement.noted_part("scores", text))
    agrees = agreement.agree(parts)
    return VerifyReport(
        command="verify",
        agrees=agrees,
        verified=STATEMENT,
        report_sha256=digest,
        tolerance=agreement.TOLERANCE,
        report=named.name,
        parts=tuple(parts),
        findings=findings,
        result=str(given["predicate"]["result"]) if agrees else None,
        limitations=(
            unread(*(one.name for one in subjects)),
            Message("verify_unsigned"),
            *(agreement.LIMITATIONS if computed else ()),
        ),
        provenance=provenance(seed=None, inputs=(), settings=()),
    )


def _stated(given: Mapping[str, Any]) -> tuple[tuple[File, ...], File]:
    """Return the released files and the report of a statement, of those that `render` writes."""
    json.dumps(given, ensure_ascii=False).encode()  # half a character is told by the caller
    try:
        subjects, (report, *_) = (
            [File(one["name"], one["digest"]["sha256"]) for one in files]
            for files in (given["subject"], given["predicate"]["configuration"])
        )
        texts = [given["predicate"]["result"], *report, *(text for one in subjects for text in one)]
        found = given["predicateType"] == PREDICATE and all(isinstance(one, str) for one in texts)
    except (KeyError, TypeError, ValueError):
        found, subjects, report = False, [], File("", "")
    if not found or not subjects:
        raise InputError(
            "bad_statement",
            "The file is a statement, but not one from mipaudit render.",
            "Make it again: mipaudit render REPORT `format` in-toto `subject` FILE.",
        )
    return tuple(subjects), report


def _subjects(
    stated: Sequence[File], given: Sequence[File], folder: Path
) -> Iterator[VerifiedPart]:
    """Yield whether each released file is what it was, and what was given and is none of them."""
    used: set[File] = set()
    for one in stated:
        # A file of that name decides; under another name it is known by its digest.
        named = [file for file in given if file.name == one.name]
        same = [file for file in named or given if file.sha256 == one.sha256]
        if same or named:
            found = (same or named)[0]
        else:
            hint = "Add `subject` FILE."
            found = hashed(str(_beside(folder, one.name, "released file", hint)))
        used.add(found)
        yield _same(f"subject {safe_name(one.name)}", one, found.sha256)
    for other in given:
        if other not in used:
            text = "the statement names no such file"
            yield agreement.compared_part(f"subject {other.name}", 1, 1, text)


def _beside(folder: Path, name: str, what: str, hint: str) -> Path:
    """Return a file in the folder of the statement; a name leads to no other folder."""
    path = folder / name
    try:
        # What waits to be written to is no file.
        found = PurePath(name).name == name and bool(name) and path.is_file()
    except (OSError, ValueError):  # too long a name, or one with a NUL
        found = False
    if not found:
        raise InputError(
            "not_beside",
            f"The {what} {safe_name(name)}, which the statement names, is not beside it.",
            hint,
        )
    return path


def _same(part: str, stated: File, digest: str) -> VerifiedPart:
    same = stated.sha256 == digest
    text = f"sha256 {digest}" if same else f"its sha256 is {digest}, not the one that is stated"
    return agreement.compared_part(part, 1, int(not same), text)


verify = public(VerifyOptions, answer_verify)
