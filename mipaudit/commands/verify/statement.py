"""A statement checked: the released files, the report beside it, and what that rests on."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from mipaudit.commands.render.forms import hashed
from mipaudit.commands.verify.agreement import (
    LIMITATIONS,
    TOLERANCE,
    agree,
    compared_part,
    noted_part,
    values_part,
    verification,
)
from mipaudit.commands.verify.report import STATEMENT, VerifyReport
from mipaudit.errors import InputError
from mipaudit.formats.exchange.statement import PREDICATE, TYPE, statement, unread
from mipaudit.formats.exchange.stored import File, Stored
from mipaudit.model.message import Message
from mipaudit.options.plain_values import path_of
from mipaudit.reading.report_file import read_report, report_bytes
from mipaudit.report.codec import read_once
from mipaudit.statements.provenance import as_of, provenance, settings_from, time_of
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mipaudit.commands.verify.options import VerifyOptions
    from mipaudit.commands.verify.report import VerifiedPart
    from mipaudit.statements.reports.any_report import AnyReport


def statement_in(data: bytes) -> dict[str, Any] | None:
    """Return the in-toto Statement that a file holds; None for anything else."""
    try:
        found = read_once(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("_type") == TYPE else None


def verify_statement(
    given: Mapping[str, Any], asked: VerifyOptions, recompute: Callable[[AnyReport], AnyReport]
) -> VerifyReport:
    """Say whether a statement speaks of the files that are there, and follows from its report.

    Args:
        given: the statement.
        asked: where the rest of it is.
        recompute: makes a report again, from what is asked.

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
    if digest == named.sha256:
        report = read_report(stored)
        with as_of(time_of(report.provenance.created)):
            again = json.loads(statement(Stored(report, named, subjects)))
        parts.append(values_part("contents", given, again, same_version=True))
        computed = asked.has_scores or not report.provenance.inputs
        if computed:
            parts += verification(stored, report, recompute(report), digest=digest).parts
        else:
            text = "not given, so that the report was not computed again: `input` SCORES does that"
            parts.append(noted_part("scores", text))
    agrees = agree(parts)
    return VerifyReport(
        command="verify",
        agrees=agrees,
        verified=STATEMENT,
        report_sha256=digest,
        tolerance=TOLERANCE,
        report=named.name,
        parts=tuple(parts),
        result=str(given["predicate"]["result"]) if agrees else None,
        limitations=(
            unread(*(one.name for one in subjects)),
            Message("verify_unsigned"),
            *(LIMITATIONS if computed else ()),
        ),
        provenance=provenance(seed=None, inputs=(), settings=settings_from({}, source="api")),
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
            "The file is a statement, and not one that mipaudit render writes.",
            hint="Make it again: mipaudit render REPORT `format` in-toto `subject` FILE.",
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
            text = "the statement speaks of no such file"
            yield compared_part(f"subject {other.name}", 1, 1, text)


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
            hint=hint,
        )
    return path


def _same(part: str, stated: File, digest: str) -> VerifiedPart:
    same = stated.sha256 == digest
    text = f"sha256 {digest}" if same else f"its sha256 is {digest}, not the one that is stated"
    return compared_part(part, 1, int(not same), text)
