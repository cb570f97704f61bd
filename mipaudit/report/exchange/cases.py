"""What a report judged, as others take it: a statement to sign, annotations of a change."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.errors import UsageError
from mipaudit.model.message import Message
from mipaudit.report.blocks import Case, plain
from mipaudit.report.exchange.stored import File, case_name, input_name, printable, sha256_of
from mipaudit.report.forms import answer_of
from mipaudit.report.messages.told import told
from mipaudit.report.messages.words import class_words
from mipaudit.report.walk import chosen_words
from mipaudit.statements.verdict import CHOSEN, UNMATCHED, beside_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.report.exchange.stored import Stored
    from mipaudit.statements.any_report import AnyReport

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
_LISTS: Final = {"passedTests": "PASSED", "warnedTests": "WARNED", "failedTests": "FAILED"}
Result = Literal["PASSED", "WARNED", "FAILED"]


def statement(stored: Stored) -> str:
    """Return the statement: who signs it says that the report is on what is released.

    Raises:
        UsageError: there is no subject, two are called the same, or the report judges nothing.
    """
    subjects, report = stored.subjects, stored.report
    _require_subjects(subjects)
    result = _result(report)
    tests = [*_tests(stored)]
    inputs = [(input_name(one), sha256_of(one)) for one in report.provenance.inputs]
    said = _said(stored)
    if unhashed := [name for name, digest in inputs if digest is None]:
        said["inputs_without_sha256"] = unhashed
    said["why"] = [{"test": name, "says": text} for name, _, text in tests]
    whole = {
        "_type": TYPE,
        "subject": [_file(one, {"mipaudit": told(unread(one.name))}) for one in subjects],
        "predicateType": PREDICATE,
        "predicate": {
            "result": result,
            "configuration": [
                _file(stored.file, said),
                *(_file(File(name, digest)) for name, digest in inputs if digest),
            ],
            **{key: [one[0] for one in tests if one[1] == kind] for key, kind in _LISTS.items()},
        },
    }
    return json.dumps(whole, indent=2) + "\n"


def unread(*names: str) -> Message:
    """Return what a form that names released files cannot say of them."""
    listed = ", ".join(map(printable, names))
    return Message.of("released_unread", names=listed, files=len(names))


def _file(file: File, said: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the descriptor of a file, and what is said of it."""
    found = {"name": file.name, "digest": {"sha256": file.sha256}}
    return found if said is None else {**found, "annotations": said}


def _require_subjects(subjects: Sequence[File]) -> None:
    if not subjects:
        raise UsageError(
            "subject",
            "A statement speaks of the files that are released, and none was named.",
            hint="Add `subject` FILE for each: the model, or the table.",
        )
    if len({one.name for one in subjects}) < len(subjects):
        raise UsageError(
            "subject",
            "Two subjects are called the same: nobody could tell them apart.",
            hint="Rename one, or make one archive of them.",
        )


def _result(report: AnyReport) -> Result:
    """Return what the verdict says: passed is what is met, and nothing is to be said beside.

    Raises:
        UsageError: ``no_verdict``: nothing was judged, and no result is true of that.
    """
    verdict: Any = getattr(report, "verdict", None)
    claim: Any = getattr(report, "claim", None)
    status = "no_policy" if verdict is None else verdict.status
    if status == "no_policy" and claim is None and not getattr(report, "claims", None):
        raise UsageError(
            "no_verdict",
            f"The report of {report.command} judges nothing: there is no result to state.",
            hint="Set a limit where the audit runs; one of estimate can be judged afterwards: "
            "mipaudit render REPORT `max_advantage` X `output` judged.json.",
        )
    if status == "no_policy":  # that data do not contradict a promise proves nothing
        return "FAILED" if claim is not None and claim.status == "refuted" else "WARNED"
    failed = status == "inconclusive" and verdict.on_inconclusive == "fail"
    if failed or status == "not_met":
        return "FAILED"
    beside = beside_verdict(verdict, report.findings)
    return "WARNED" if status != "met" or verdict.waived or beside else "PASSED"


def _tests(stored: Stored) -> Iterator[tuple[str, Result, str]]:
    """Yield the name of what was judged, its result and why.

    Limits stand first, then claims, and what is wrong with the input. What is waived or open has
    not passed, nor has a claim that is not contradicted.
    """
    checks: Sequence[Any] = getattr(stored.report, "policy", ())
    cases = stored.walk.cases
    for case, check in zip_longest(cases, checks[: len(cases)]):
        against = f", {class_words(check.against)}" if hasattr(check, "against") else ""
        passed = case.status == "passed" and check is not None
        result: Result = "FAILED" if case.status == "failed" else "PASSED" if passed else "WARNED"
        yield case_name(case) + against, result, plain(case.text)


def _said(stored: Stored) -> dict[str, Any]:
    """Return what the report says in words."""
    report = stored.report
    said = {"is": "the report of mipaudit", "command": report.command}
    said["says"] = stored.walk.answer
    # One that was judged again, without the data, is less sure than its figures are.
    judged = getattr(report, "rejudged", None) or getattr(report, "design", None)
    sure = getattr(judged, "confidence", None)
    findings = report.findings
    chosen = (*chosen_words(report), *(told(one) for one in findings if one.code == CHOSEN))
    return {
        **said,
        **({} if sure is None else {"confidence": sure}),
        **({"policy_file": [plain(text) for text in chosen]} if chosen else {}),
    }


# GitHub shows ten of each severity in a step: one is the outcome.
_MOST: Final = 9
_GITHUB: Final = {"failed": "error", "open": "warning", "waived": "warning"}
_GITLAB: Final = {"failed": "critical", "open": "minor", "waived": "minor"}
_OUTCOMES: Final = {"bad": "error", "open": "warning", "good": "notice", "plain": "notice"}
_LONGEST: Final = 1_000


def github(stored: Stored) -> str:
    """Return workflow commands: the outcome, then what is failed, open and waived."""
    walk = stored.walk
    answer = f"{answer_of(stored.report)} {stored.file.name}, sha256 {stored.file.sha256}."
    commands = [_command(_OUTCOMES[walk.mood], walk.title, answer)]
    cases = _cases(stored, walk.cases)
    for severity in dict.fromkeys(_GITHUB.values()):
        some = [one for one in cases if _GITHUB[one.status] == severity]
        rest = len(some) - _MOST
        ends = [""] * (_MOST - 1) + [f" And {rest} more." if rest > 0 else ""]
        commands += (
            _command(severity, plain(one.name), _text(one) + end)
            for one, end in zip(some, ends, strict=False)
        )
    return "\n".join(commands) + "\n"


def gitlab(stored: Stored) -> str:
    """Return a code quality report: an issue for what is failed, open or waived.

    An issue is known again, in another run, by what it is about and not by its figures.
    """
    command = stored.report.command
    issues = [
        {
            "description": _text(case),
            "check_name": plain(case.name),
            "fingerprint": sha256(f"{command}\0{case.group}\0{case.name}".encode()).hexdigest(),
            "severity": _GITLAB[case.status],
            "location": {"path": stored.file.name, "lines": {"begin": 1}},
        }
        for case in _cases(stored, stored.walk.cases)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _cases(stored: Stored, cases: Sequence[Case]) -> list[Case]:
    """Return what is failed, then what is open, then what is waived, and waivers of nothing.

    Nothing else is annotated but the outcome: both servers cut long lists, and show what stands
    first.
    """
    idle = [
        Case(stored.report.command, one.code, "waived", told(one))
        for one in stored.report.findings
        if one.code == UNMATCHED
    ]
    return [one for status in _GITHUB for one in (*cases, *idle) if one.status == status]


def _text(case: Case) -> str:
    return f"{case_name(case).removeprefix(': ')}: {plain(case.text)}"[:_LONGEST]


def _command(severity: str, title: str, text: str) -> str:
    """Return one command; a text can neither end it nor begin another."""
    named = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{severity} title={named}::{_escaped(plain(text))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
