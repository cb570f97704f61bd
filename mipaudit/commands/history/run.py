"""``mipaudit history``: the reports of several releases, side by side in time."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.commands.estimate.report import Report, lines, shown_attackers
from mipaudit.commands.history.options import HistoryOptions
from mipaudit.commands.history.report import HistoryReport, PastAdvantage, PastReport, Step
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import public_of_several
from mipaudit.options.values import path_of
from mipaudit.output.stored_report import foreign, read_report, report_bytes, why_unread
from mipaudit.report.codec import to_json
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import InputFile, provenance, waiver_day
from mipaudit.statements.rounding import count_text, number_text
from mipaudit.statements.verdict import beside_verdict, stale_waiver, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.model.row import Check
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
    found = _apart(
        sorted(
            _once(_read(asked.reports, passed)),
            key=lambda one: (one.report.provenance.created, one.name),
            reverse=True,
        )
    )
    if not found:
        raise UsageError(
            "reports",
            "No report is given." if not passed else "None of the files is a report.",
            hint="Give reports as commands wrote them (.json, .html), or a folder of them.",
        )
    reports = tuple(_past(one) for one in found)
    advantages = tuple(_advantages(found))
    sure = [one.confidence for one in reports if one.confidence is not None]
    joint = max(0.0, round(1 - sum(1 - one for one in sure), _DIGITS))
    return HistoryReport(
        command="history",
        joint_confidence=joint,
        reports=reports,
        advantages=advantages,
        steps=tuple(_steps(found, reports, advantages)),
        findings=tuple(_findings(found, reports, passed)),
        limitations=LIMITATIONS,
        provenance=provenance(
            seed=None,
            inputs=[
                InputFile(name=one.name, rows=1, bytes=len(one.data), sha256=past.sha256)
                for one, past in zip(found, reports, strict=True)
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
            hint="Give the reports themselves.",
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
        text = f"Report {quoted_name(name)}: {error.message}"
        raise InputError(error.code, text, hint=error.hint) from None


def _once(found: Iterable[_Stored]) -> Iterator[_Stored]:
    """Yield each report once: a page carries the report that its JSON file holds."""
    seen: set[bytes] = set()
    for one in found:
        digest = sha256(to_json(one.report)).digest()
        if digest not in seen:
            seen.add(digest)
            yield one
        if len(seen) > _MOST:
            raise UsageError("reports", f"There are more than {count_text(_MOST)} reports.")


def _apart(found: Sequence[_Stored]) -> list[_Stored]:
    """Return the reports under names of their own: files of several folders may share one."""
    taken: Counter[str] = Counter()
    named: list[_Stored] = []
    for one in found:
        taken[one.name] += 1
        again = f" ({taken[one.name]})" if taken[one.name] > 1 else ""
        named.append(one._replace(name=one.name + again))
    return named


def _past(one: _Stored) -> PastReport:
    report: Any = standing(one.report, waiver_day())
    verdict = getattr(report, "verdict", None)
    design = getattr(report, "design", None)
    declared = report.provenance.declared
    checks = getattr(report, "policy", ())
    waivers = [check.waived for check in checks if getattr(check, "waived", None) is not None]
    note = None
    if verdict is not None and hasattr(verdict, "waived"):
        note = beside_verdict(verdict, report.findings)
    return PastReport(
        name=safe_name(one.name),
        of=report.command,
        release=declared.release if declared else None,
        created=report.provenance.created,
        mipaudit=report.provenance.mipaudit,
        verdict=getattr(verdict, "status", None),
        note=note,
        n_members=getattr(design, "n_members", None),
        n_holdout=getattr(design, "n_holdout", None),
        confidence=getattr(design, "confidence", None),
        sha256=sha256(one.data).hexdigest(),
        waived=len(waivers),
        until=min((waiver.expires for waiver in waivers), default=None),
    )


def _advantages(found: Sequence[_Stored]) -> Iterator[PastAdvantage]:
    """Yield a row for each score of each report of ``estimate``, as its verdict has it."""
    for one in found:
        report = one.report
        if not isinstance(report, Report) or not report.estimates:
            continue
        against = shown_attackers(report)
        checks = {check.score: check for check in report.policy if _plain(check)}
        for line in lines(report):
            check = checks.get(line.score)
            yield PastAdvantage(
                report=safe_name(one.name),
                score=line.score,
                lower=line.lower,
                value=line.value,
                upper=line.upper,
                against=against,
                limit=check.limit if check else None,
                prior=report.design.prior,
            )


def _plain(check: Check) -> bool:
    """Tell whether a limit is one on the advantage at the audit's own prior."""
    return check.quantity == "advantage" and check.prior is None and check.group is None


def _steps(
    found: Sequence[_Stored], reports: Sequence[PastReport], rows: Sequence[PastAdvantage]
) -> Iterator[Step]:
    """Yield what is asked otherwise than in the report before, of the same command."""
    of_report: dict[str, list[PastAdvantage]] = {past.name: [] for past in reports}
    for row in rows:
        of_report[row.report].append(row)
    asked = {
        past.name: _asked(one.report, of_report[past.name])
        for one, past in zip(found, reports, strict=True)
    }
    for of in dict.fromkeys(one.of for one in reports):
        for new, old in pairwise(one for one in reports if one.of == of):
            for what, after in asked[new.name].items():
                before = asked[old.name][what]
                if before != after:
                    yield Step(
                        report=new.name, versus=old.name, what=what, before=before, after=after
                    )


def _asked(report: Any, rows: Sequence[PastAdvantage]) -> dict[Any, str]:  # noqa: ANN401
    """Return what a report's figures answer: limits, class, prior, and so on, in words."""
    design = getattr(report, "design", None)
    limits = {
        f"{check.quantity.replace('_', ' ')} {number_text(check.limit)}"
        for check in getattr(report, "policy", ())
        if hasattr(check, "quantity")
    }
    plain = (getattr(design, name, None) for name in ("prior", "confidence"))
    prior, confidence = ("none" if one is None else number_text(one) for one in plain)
    return {
        "limits": ", ".join(sorted(limits)) or "none",
        "against": ", ".join(sorted({row.against for row in rows})) or "none",
        "prior": prior,
        "confidence": confidence,
        "scores": ", ".join(sorted({safe_name(row.score) for row in rows})) or "none",
        "mipaudit": report.provenance.mipaudit,
    }


def _findings(
    found: Sequence[_Stored], reports: Sequence[PastReport], passed: Sequence[str]
) -> Iterator[Finding]:
    if passed:
        names = ", ".join(map(safe_name, sorted(passed)))
        yield Finding.of("no_report", names=names)
    for one in found:
        stale = stale_waiver(one.report, waiver_day())
        if stale is not None:
            yield stale.with_values(stale.code, where=safe_name(one.name))
    looks: dict[tuple[str, ...], list[PastReport]] = {}
    for one, past in zip(found, reports, strict=True):
        digests = [file.sha256 or "" for file in one.report.provenance.inputs]
        if digests and all(digests):
            looks.setdefault((past.of, *sorted(digests)), []).append(past)
    yield from _of_one_name(reports)
    for same in looks.values():
        if len(same) > 1:
            apart = len({one.verdict for one in same}) > 1
            names = " and ".join(safe_name(one.name) for one in same)
            case = "apart" if apart else "alike"
            yield Finding.of("same_scores", case=case, reports=names)


def _of_one_name(reports: Sequence[PastReport]) -> Iterator[Finding]:
    """Yield what is declared to be one release, and has several verdicts of the same command."""
    named: dict[tuple[str, str], list[PastReport]] = {}
    for one in reports:
        if one.release is not None and one.verdict is not None:
            named.setdefault((one.of, one.release), []).append(one)
    for (_, release), several in named.items():
        if len({one.verdict for one in several}) > 1:
            names = " and ".join(one.name for one in several)
            yield Finding.of("same_release", reports=names, release=release)


history = public_of_several(HistoryOptions, answer_history)
