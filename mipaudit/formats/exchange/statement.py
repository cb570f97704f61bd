"""A verdict as an in-toto Statement, of the predicate type Test Result: for who signs releases."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mipaudit.errors import UsageError
from mipaudit.formats.document import plain
from mipaudit.formats.exchange.stored import input_name, printable, sha256_of
from mipaudit.formats.report_forms import chosen_words, document_of
from mipaudit.model.message import Message
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import left_out_note, verdict_note
from mipaudit.statements.text.named import class_words
from mipaudit.statements.verdict import CHOSEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.formats.exchange.stored import File, Stored
    from mipaudit.statements.reports.any_report import AnyReport

TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
# What the first descriptor of the configuration is, among those of what was read.
REPORT: Final = "the report of mipaudit"
_LISTS: Final = {"PASSED": "passedTests", "WARNED": "warnedTests", "FAILED": "failedTests"}
Result = Literal["PASSED", "WARNED", "FAILED"]


class _Test(NamedTuple):
    name: str
    result: Result
    text: str


def statement(stored: Stored) -> str:
    """Return the statement: who signs it says that the report is on what is released.

    Raises:
        UsageError: there is no subject, two are called the same, or the report judges nothing.
    """
    _require_subjects(stored.subjects)
    report = stored.report
    result = _result(report)
    tests = [*_tests(report)]
    lists = {
        name: [one.name for one in tests if one.result == outcome]
        for outcome, name in _LISTS.items()
    }
    configuration = [_described(stored, tests), *_inputs(report)]
    whole = {
        "_type": TYPE,
        "subject": [_released(one) for one in stored.subjects],
        "predicateType": PREDICATE,
        "predicate": {"result": result, "configuration": configuration, **lists},
    }
    return json.dumps(whole, indent=2) + "\n"


def unread(*names: str) -> Message:
    """Return what a form that names released files cannot say of them."""
    listed = ", ".join(map(printable, names))
    return Message.of("released_unread", names=listed, files=len(names))


def _released(one: File) -> dict[str, Any]:
    return {**_file(*one), "annotations": {"mipaudit": told(unread(one.name))}}


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
    if verdict is not None and verdict.status != "no_policy":
        beside = verdict_note(verdict) + left_out_note(getattr(report, "findings", ()))
        failed = verdict.status == "inconclusive" and verdict.on_inconclusive == "fail"
        if failed or verdict.status == "not_met":
            return "FAILED"
        return "WARNED" if verdict.status != "met" or beside else "PASSED"
    if claim is not None and claim.status == "refuted":
        return "FAILED"
    if claim is not None or getattr(report, "claims", None):
        return "WARNED"  # that data do not contradict a promise proves nothing
    raise UsageError(
        "no_verdict",
        f"The report of {report.command} judges nothing: there is no result to state.",
        hint="Set a limit where the audit runs; one of estimate can be judged afterwards: mipaudit "
        "render REPORT `max_advantage` X `output` judged.json.",
    )


def _tests(report: AnyReport) -> Iterator[_Test]:
    """Yield what was judged: limits stand first, then claims, and what is wrong with the input.

    What is waived or open has not passed, nor has a claim that is not contradicted.
    """
    checks: Sequence[Any] = getattr(report, "policy", ())
    cases = document_of(report).cases
    for case, check in zip_longest(cases, checks[: len(cases)]):
        name = f"{plain(case.group)}: {plain(case.name)}"
        if hasattr(check, "against"):
            name += f", {class_words(check.against)}"
        passed = case.status == "passed" and check is not None
        result: Result = "FAILED" if case.status == "failed" else "PASSED" if passed else "WARNED"
        yield _Test(name, result, plain(case.text))


def _described(stored: Stored, tests: Sequence[_Test]) -> dict[str, Any]:
    """Return the descriptor of the report, with what it says in words."""
    report = stored.report
    said = {"is": REPORT, "command": report.command, "says": document_of(report).headline}
    # One that was judged again, without the data, is less sure than its figures are.
    judged = getattr(report, "rejudged", None) or getattr(report, "design", None)
    sure = getattr(judged, "confidence", None)
    findings = getattr(report, "findings", ())
    chosen = (*chosen_words(report), *(told(one) for one in findings if one.code == CHOSEN))
    unhashed = [input_name(one) for one in report.provenance.inputs if sha256_of(one) is None]
    return {
        **_file(*stored.file),
        "annotations": {
            **said,
            **({} if sure is None else {"confidence": sure}),
            **({"policy_file": [plain(text) for text in chosen]} if chosen else {}),
            **({"inputs_without_sha256": unhashed} if unhashed else {}),
            "why": [{"test": one.name, "says": one.text} for one in tests],
        },
    }


def _file(name: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256}}


def _inputs(report: AnyReport) -> list[dict[str, Any]]:
    """Return the descriptors of what was read, of that whose sha256 is known."""
    return [
        _file(input_name(one), digest)
        for one in report.provenance.inputs
        if (digest := sha256_of(one)) is not None
    ]
