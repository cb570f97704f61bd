"""A report as others take it: what it found, in a card, a bill and metrics; what it judged.

That is a statement to sign, and annotations of a change.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from mipaudit.errors import UsageError
from mipaudit.model.message import Message
from mipaudit.report.blocks import Block, Bullets, Case, Grid, Pairs, Text, list_items
from mipaudit.report.exchange.stored import (
    AT_LEAST,
    AT_MOST,
    NONE,
    Figure,
    File,
    Stored,
    case_name,
    figures,
    input_name,
    printable,
    sha256_of,
)
from mipaudit.report.forms import answer_of
from mipaudit.report.markup import blocks_markdown
from mipaudit.report.messages.told import told
from mipaudit.report.messages.words import class_words
from mipaudit.report.origin import declared_pairs
from mipaudit.report.walk import chosen_words
from mipaudit.statements.printable_names import plain
from mipaudit.statements.provenance import TIME_FORM, time_of
from mipaudit.statements.verdict import CHOSEN, UNMATCHED, beside_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.statements.any_report import AnyReport

_STATUS: Final = {"passed": "met", "failed": "NOT MET", "waived": "WAIVED", "skipped": "not judged"}


def model_card(stored: Stored) -> str:
    """Return the head of a card in YAML, and its section in Markdown."""
    found = figures(stored.report)
    result = {
        "task": {"type": "membership-inference", "name": "Membership inference"},
        "dataset": {"type": "members-and-holdout", "name": stored.read},
        "metrics": [metric for one in found for metric in _metrics(one)],
    }
    head = {"model-index": [{"name": stored.called, "results": [result]}]}
    section = blocks_markdown(_section(stored, found))
    return "\n".join(("---", *_yaml(head), "---", "", section))


def _metrics(one: Figure) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a figure; a limit that there is not is said in the section."""
    for column, number in one.numbers:
        words = f"{one.of} {column}".strip()
        name = f"{words} ({one.about})" if one.about else words
        yield {"type": words.replace(" ", "_"), "value": number, "name": name}


def _section(stored: Stored, found: tuple[Figure, ...]) -> Iterator[Block]:
    walk, made = stored.walk, stored.report.provenance
    yield Text("Who was in the training data: what the audit found", "h2")
    yield from (Text(text) for text in (walk.answer, walk.about) if text)
    if found:
        yield Grid(
            caption="Figures",
            head=("figure", "of, and for whom", AT_LEAST, "best estimate, or known", AT_MOST),
            rows=tuple((one.of, one.about, *_in_words(one)) for one in found),
            words=2,
        )
    yield judged_grid(walk.cases)
    if declared := declared_pairs(made.declared):
        yield Text("Declared, and checked by nobody", "h3")
        yield Pairs(declared)
    yield Text("What this does not show, and what it rests on", "h3")
    yield Bullets(tuple(text for _, text in list_items(walk.sections())))
    yield Pairs(
        (
            ("report", f"{stored.file.name}, sha256 {stored.file.sha256}"),
            ("made", f"{made.created} (UTC), by mipaudit {made.mipaudit}"),
        )
    )


def judged_grid(cases: Sequence[Case]) -> Grid:
    """Return what a report judged: each limit, what came of it and why, with its waiver."""
    return Grid(
        caption="What was judged",
        head=("limit", "status", "why"),
        rows=tuple(
            (case_name(one), _STATUS.get(one.status, one.status), plain(one.text)) for one in cases
        ),
        words=2,
        prose=True,
    )


def _in_words(one: Figure) -> Iterator[str]:
    """Yield at least, the value and at most; "at least none" would read as no leak."""
    missing = ("no lower limit", "-", "no upper limit")
    for (_, text), absent in zip(one.columns, missing, strict=True):
        yield absent if text == NONE else text or "-"


def _yaml(value: Any) -> Iterator[str]:  # noqa: ANN401 - lists and objects, none of them empty
    """Yield lists and objects as lines of YAML, every text in quotes: none means anything else.

    What JSON has in quotes, of characters that are printed, YAML reads alike.
    """
    if isinstance(value, list):
        for one in value:
            first, *rest = _yaml(one)
            yield from (f"- {first}", *(f"  {line}" for line in rest))
        return
    for key, one in value.items():
        if isinstance(one, (dict, list)) and one:
            yield from (f"{key}:", *(f"  {line}" for line in _yaml(one)))
            continue
        text = json.dumps(one, ensure_ascii=False)
        # Without a point YAML 1.1 takes such a number for a text.
        plain_float = isinstance(one, float) and "." not in text
        yield f"{key}: {text.replace('e', '.0e') if plain_float else text}"


def cyclonedx(stored: Stored) -> str:
    """Return the bill: one model, its figures with limits, and what was read.

    Equal reports give equal bytes: the time is that of the report, and the serial number
    follows from its sha256.
    """
    made = stored.report.provenance
    source = {
        "type": "quality-metrics",
        "url": quote(stored.file.name),
        "comment": "The report of mipaudit with the figures.",
        "hashes": _hashes(stored.file.sha256),
    }
    model = {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": stored.called,
        "externalReferences": [source],
        "modelCard": _card(stored),
    }
    tool = {"type": "application", "name": "mipaudit", "version": printable(made.mipaudit)}
    read = [
        {"type": "data", "bom-ref": f"input-{number}", "name": input_name(one)}
        | ({"hashes": _hashes(digest)} if (digest := sha256_of(one)) else {})
        for number, one in enumerate(made.inputs, start=1)
    ]
    whole = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'urn:sha256:{stored.file.sha256}')}",
        "version": 1,
        "metadata": {
            "timestamp": time_of(made.created).strftime(TIME_FORM),
            "tools": {"components": [tool]},
            "component": model,
        },
        "components": read,
    }
    return json.dumps(whole, indent=2) + "\n"


def _card(stored: Stored) -> dict[str, Any]:
    walk = stored.walk
    declared = declared_pairs(stored.report.provenance.declared)
    said = (
        ("verdict", walk.answer),
        ("summary", walk.about),
        *((f"declared:{term}", text) for term, text in declared),
        *((f"limit:{one.status}", f"{case_name(one)}: {one.text}") for one in walk.cases),
    )
    return {
        "quantitativeAnalysis": {"performanceMetrics": [*map(_metric, figures(stored.report))]},
        "considerations": {
            "technicalLimitations": [
                f"{head}: {text}" for head, text in list_items(walk.sections())
            ]
        },
        "properties": [
            {"name": f"mipaudit:{name}", "value": plain(text)} for name, text in said if text
        ],
    }


def _metric(one: Figure) -> dict[str, Any]:
    """Return a figure, of which the schema has every number as text: no limit is ``none``."""
    found = {"type": one.of, "value": one.value or "not known", "slice": one.about}
    if one.lower is None:
        return found
    return found | {"confidenceInterval": {"lowerBound": one.lower, "upperBound": one.upper}}


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]


# MLflow takes these and a slash, at most 250 characters, and nothing that a path would shorten.
_PLAIN: Final = re.compile(r"\w[\w.-]{0,39}", re.ASCII)
_OTHER: Final = re.compile(r"[^A-Za-z0-9_.-]+|^\.+")
_LONGEST: Final = 31
_LONGEST_WORD: Final = 60
_OF_DATA: Final = frozenset({"score", "group", "versus", "report", "name"})
# What a case is called here: nobody can tell yet whether an open one is met; a skipped one is let
# pass, or there was nothing to judge.
_CASES: Final = {"passed": "met", "failed": "not_met"}
_STATUSES: Final = ("passed", "failed", "open", "waived", "skipped")


def metrics(stored: Stored) -> str:
    """Return one JSON object: a name for each number, none for a limit that there is not.

    A name is the quantity, what tells it apart (score, class of attackers), and ``at_least``,
    ``best_estimate``, ``at_most`` or, of what is known, ``value``. ``confidence`` is the least
    that a limit holds with, ``limits/met`` and its like count the limits of the policy.
    """
    found = figures(stored.report)
    sure = [one.confidence for one in found if one.confidence is not None]
    statuses = Counter(str(case.status) for case in stored.walk.cases)
    numbers = dict(_named(found))
    if sure:
        numbers["confidence"] = min(sure)
    numbers |= {f"limits/{_CASES.get(one, one)}": statuses[one] for one in _STATUSES}
    return json.dumps(numbers, indent=2, allow_nan=False) + "\n"


def _named(found: tuple[Figure, ...]) -> Iterator[tuple[str, float]]:
    """Yield names and numbers; figures that would have one name are numbered from the second.

    Capitals do not tell names apart: MLflow makes files of them, which some systems do not.
    """
    taken: Counter[str] = Counter()
    for one in found:
        name = "/".join((_word(one.of), *(_part(*label) for label in one.labels)))
        taken[plain := name.lower()] += 1
        name += f"/{taken[plain]}" if taken[plain] > 1 else ""
        for column, number in one.numbers:
            yield f"{name}/{column.replace(' ', '_') or 'value'}", number


def _part(label: str, text: str) -> str:
    """Return a part of a name; one of the data that has to change ends in a digest: none meet."""
    if label not in _OF_DATA or _PLAIN.fullmatch(text):
        return _word(text)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', text)[:_LONGEST]}-{digest}"


def _word(text: str) -> str:
    return _OTHER.sub("_", text)[:_LONGEST_WORD] or "_"


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
            "A statement is about released files, but none is named.",
            "Add `subject` FILE for each: the model, or the table.",
        )
    if len({one.name for one in subjects}) < len(subjects):
        raise UsageError(
            "subject",
            "Two subjects have the same name.",
            "Rename one of them, or put them into one archive.",
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
            f"The report of {report.command} has no verdict, so there is no result to state.",
            "Set a limit in the audit. A report of estimate can also be judged later: "
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
_LONGEST_LINE: Final = 1_000


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
    return f"{case_name(case).removeprefix(': ')}: {plain(case.text)}"[:_LONGEST_LINE]


def _command(severity: str, title: str, text: str) -> str:
    """Return one command; a text can neither end it nor begin another."""
    named = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{severity} title={named}::{_escaped(plain(text))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
