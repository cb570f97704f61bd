"""``mipaudit history``: the reports of several releases, side by side in time."""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.commands.estimate.report import Report, lines, shown_attackers
from mipaudit.commands.history.options import HistoryOptions
from mipaudit.commands.history.report import Changed, HistoryReport, PastAdvantage, PastReport, Step
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check
from mipaudit.options.public import public_of_several
from mipaudit.options.values import path_of
from mipaudit.output.stored_report import foreign, read_report, report_bytes, why_unread
from mipaudit.report.codec import to_json
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import InputFile, provenance
from mipaudit.statements.rounding import count_text, number_text
from mipaudit.statements.verdict import beside_verdict, stale_waiver, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.statements.any_report import AnyReport

_ENDINGS: Final = (".json", ".html")
# What all of our reports hold, and hardly anything else.
_OURS: Final = b'"mipaudit.'
_MOST: Final = 10_000
_DIGITS: Final = 12
LIMITATIONS: Final = (
    Message("history_order"),
    Message("history_confidence"),
    Message("history_overlap"),
)


class _Stored(NamedTuple):
    name: str
    data: bytes
    report: AnyReport


# A report, and what is told of it.
_Told = tuple["AnyReport", PastReport]


def answer_history(asked: HistoryOptions) -> HistoryReport:
    """Return the reports in order, the newest first, and what changed from one to the next.

    Raises:
        UsageError: none is given.
        InputError: a file cannot be read or is no report; a folder has none.
    """
    with foreign(*asked.reports):
        return _side_by_side(asked)


def _side_by_side(asked: HistoryOptions) -> HistoryReport:
    passed: list[str] = []
    stored = sorted(
        _once(_read(asked.reports, passed)),
        key=lambda one: (one.report.provenance.created, one.name),
        reverse=True,
    )
    if not stored:
        raise UsageError(
            "reports",
            "No report is given." if not passed else "None of the files is a report.",
            "Give reports as commands wrote them (.json, .html), or a folder of them.",
        )
    found = _apart(stored)
    reports = tuple(past for _, past in found)
    advantages = tuple(row for one in found for row in _advantages(*one))
    sure = [one.confidence for one in reports if one.confidence is not None]
    return HistoryReport(
        command="history",
        joint_confidence=max(0.0, round(1 - sum(1 - one for one in sure), _DIGITS)),
        reports=reports,
        advantages=advantages,
        steps=tuple(_steps(found, advantages)),
        findings=tuple(_findings(found, passed)),
        limitations=LIMITATIONS,
        provenance=provenance(
            seed=None,
            inputs=[
                InputFile(name=past.name, rows=1, bytes=len(one.data), sha256=past.sha256)
                for one, past in zip(stored, reports, strict=True)
            ],
            settings=asked.recorded(),
        ),
    )


def _read(given: Sequence[Any], passed: list[str]) -> Iterator[_Stored]:
    """Yield the reports; files of folders that are none are added to ``passed``."""
    for place, one in enumerate(given, 1):
        path = path_of(one)
        if not isinstance(path, str):
            yield _stored(f"report {place}", one)
        elif Path(path).is_dir():
            yield from _of_folder(Path(path), passed)
        else:
            yield _stored(Path(path).name, path)


def _of_folder(folder: Path, passed: list[str]) -> Iterator[_Stored]:
    """Yield the reports of a folder. A damaged one is an error, what is none is passed over."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            "unreadable_report",
            f"The folder {quoted_name(str(folder))} cannot be read: {why_unread(error)}.",
            "Give the reports themselves.",
        ) from None
    # A page carries the report of its JSON file, by whose name it is known.
    for path in sorted(paths, key=lambda path: path.suffix.lower() != ".json"):
        if path.suffix.lower() not in _ENDINGS or not path.is_file():
            continue
        data = report_bytes(path) if path.stat().st_size else b""
        if _OURS in data:
            try:
                yield _stored(path.name, data)
                continue
            except InputError as error:
                if error.code != "report_schema":
                    raise
        passed.append(path.name)


def _stored(name: str, given: Any) -> _Stored:  # noqa: ANN401 - a path, bytes, or a report
    try:
        data = report_bytes(given)
        return _Stored(name, data, read_report(data))
    except InputError as error:
        place = "" if name in error.message else f"Report {quoted_name(name)}: "
        raise InputError(error.code, f"{place}{error.message}", error.hint) from None


def _once(found: Iterable[_Stored]) -> Iterator[_Stored]:
    """Yield each report once: a page carries the report that its JSON file holds."""
    seen: set[bytes] = set()
    for one in found:
        digest = sha256(to_json(one.report)).digest()
        if digest not in seen:
            seen.add(digest)
            yield one
        if len(seen) > _MOST:
            raise UsageError("reports", f"At most {count_text(_MOST)} reports can be shown.")


def _apart(stored: Sequence[_Stored]) -> list[_Told]:
    """Return the reports under names of their own: files of several folders may share one."""
    taken: Counter[str] = Counter()
    found: list[_Told] = []
    for one in stored:
        taken[one.name] += 1
        again = f" ({taken[one.name]})" if taken[one.name] > 1 else ""
        found.append((one.report, _past(one._replace(name=safe_name(one.name + again)))))
    return found


def _past(one: _Stored) -> PastReport:
    report: Any = standing(one.report)
    verdict = getattr(report, "verdict", None)
    declared = report.provenance.declared
    waivers = [check.waived for check in _checks(report) if check.waived is not None]
    note = None
    if verdict is not None and hasattr(verdict, "waived"):
        note = beside_verdict(verdict, report.findings)
    designed = ("n_members", "n_holdout", "confidence")
    return PastReport(
        name=one.name,
        of=report.command,
        release=declared.release if declared else None,
        created=report.provenance.created,
        mipaudit=report.provenance.mipaudit,
        verdict=getattr(verdict, "status", None),
        note=note,
        sha256=sha256(one.data).hexdigest(),
        waived=len(waivers),
        until=min((waiver.expires for waiver in waivers), default=None),
        **{name: getattr(getattr(report, "design", None), name, None) for name in designed},
    )


def _checks(report: Any) -> Iterator[Check]:  # noqa: ANN401 - of any kind
    """Yield the checks of a report; the policy of some kinds is of another type, or none."""
    yield from (one for one in getattr(report, "policy", ()) if isinstance(one, Check))


def _advantages(report: AnyReport, past: PastReport) -> Iterator[PastAdvantage]:
    """Yield a row for each score of a report of ``estimate``, as its verdict has it."""
    if not isinstance(report, Report) or not report.estimates:
        return
    # A limit on the advantage at the audit's own prior.
    limits = {
        check.score: check.limit
        for check in report.policy
        if check.quantity == "advantage" and check.prior is None and check.group is None
    }
    for line in lines(report):
        yield PastAdvantage(
            report=past.name,
            score=line.score,
            lower=line.lower,
            value=line.value,
            upper=line.upper,
            against=shown_attackers(report),
            limit=limits.get(line.score),
            prior=report.design.prior,
        )


def _steps(found: Sequence[_Told], rows: Sequence[PastAdvantage]) -> Iterator[Step]:
    """Yield what is asked otherwise than in the report before, of the same command."""
    of_report: defaultdict[str, list[PastAdvantage]] = defaultdict(list)
    for row in rows:
        of_report[row.report].append(row)
    asked = {past.name: _asked(report, of_report[past.name]) for report, past in found}
    for of in dict.fromkeys(past.of for _, past in found):
        for new, old in pairwise(past.name for _, past in found if past.of == of):
            for what, after in asked[new].items():
                before = asked[old][what]
                if before != after:
                    yield Step(report=new, versus=old, what=what, before=before, after=after)


def _asked(report: Any, rows: Sequence[PastAdvantage]) -> dict[Changed, str]:  # noqa: ANN401
    """Return what a report's figures answer: limits, class, prior, and so on, in words."""

    def listed(words: Iterable[str]) -> str:
        return ", ".join(sorted(set(words))) or "none"

    def designed(name: str) -> str:
        found = getattr(getattr(report, "design", None), name, None)
        return "none" if found is None else number_text(found)

    return {
        "limits": listed(
            f"{check.quantity.replace('_', ' ')} {number_text(check.limit)}"
            for check in _checks(report)
        ),
        "against": listed(row.against for row in rows),
        "prior": designed("prior"),
        "confidence": designed("confidence"),
        "scores": listed(safe_name(row.score) for row in rows),
        "mipaudit": report.provenance.mipaudit,
    }


def _findings(found: Sequence[_Told], passed: Sequence[str]) -> Iterator[Finding]:
    if passed:
        yield Finding.of("no_report", names=", ".join(map(safe_name, sorted(passed))))
    looks: defaultdict[tuple[str, ...], list[PastReport]] = defaultdict(list)
    named: defaultdict[tuple[str, str], list[PastReport]] = defaultdict(list)
    for report, past in found:
        stale = stale_waiver(report)
        if stale is not None:
            yield stale.with_values(stale.code, where=past.name)
        digests = [file.sha256 or "" for file in report.provenance.inputs]
        if digests and all(digests):
            looks[past.of, *sorted(digests)].append(past)
        if past.release is not None and past.verdict is not None:
            named[past.of, past.release].append(past)
    # What is declared to be one release, and has several verdicts of the same command.
    for (_, release), several in named.items():
        if len({one.verdict for one in several}) > 1:
            yield Finding.of("same_release", reports=_joined(several), release=release)
    for same in looks.values():
        if len(same) > 1:
            case = "apart" if len({one.verdict for one in same}) > 1 else "alike"
            yield Finding.of("same_scores", case=case, reports=_joined(same))


def _joined(reports: Sequence[PastReport]) -> str:
    return " and ".join(one.name for one in reports)


history = public_of_several(HistoryOptions, answer_history)
