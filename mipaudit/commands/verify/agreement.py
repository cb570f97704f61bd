"""From a report and the same computed again to what agrees and what does not, value by value."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.commands.verify.report import VerifiedPart, VerifyReport
from mipaudit.model.message import Message
from mipaudit.options.recorded import without_effect
from mipaudit.report.codec import indented, is_page, taken_out, to_json
from mipaudit.statements.provenance import provenance, settings_from
from mipaudit.statements.sources import Declaration
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.statements.origin import Provenance
    from mipaudit.statements.reports.any_report import AnyReport
    from mipaudit.statements.sources import InputFile

_DRAWING: Final = rb"(?s)<svg.*?</svg>"
TOLERANCE: Final = 1e-9
# What a JSON document holds.
Json: TypeAlias = Any
_ABSENT: Final = object()
_NAMED_PLACES: Final = 5
# The fields of a reason, a finding or a limitation.
_SAID: Final = {"text", "code", "values"}
_WORST_FIRST: Final = ("differs", "unknown", "added", "near", "equal")
_AS_STATED: Final = (
    "made at, by version, sources and places of settings, the policy's path{} are as stated, not "
    "checked"
)
_ADDED: Final = "{} was added to the format after the report was made"
LIMITATIONS: Final = (
    Message("verify_follows"),
    Message.of("verify_as_stated", declared=", ".join(one.name for one in fields(Declaration))),
    Message("verify_other_versions"),
)


def verification(data: bytes, report: AnyReport, again: AnyReport, *, digest: str) -> VerifyReport:
    """Return what agrees between a report and the same computed again.

    Args:
        data: the report's file: what this version would not read is compared too.
        report: what it holds.
        again: the same, computed again.
        digest: sha256 of the file.
    """
    then, now = report.provenance, again.provenance
    same_version = then.mipaudit == now.mipaudit
    carried = json.loads(taken_out(data))
    names = " and input names" if then.declared is None else ", input names and what was declared"
    parts = (
        *_inputs(then, now),
        *_seed(then, now),
        *_settings(report),
        *_values(carried, json.loads(to_json(again)), same_version=same_version),
        *_records_alone(report),
        *_shown(data, report, same_version=same_version),
        noted_part("as stated", _AS_STATED.format(names)),
        _versions(then, now),
    )
    return VerifyReport(
        command="verify",
        agrees=agree(parts),
        verified=report.command,
        report_sha256=digest,
        carried_sha256=sha256(indented(carried)).hexdigest() if is_page(data) else None,
        tolerance=TOLERANCE,
        made=then.created,
        made_by=then.mipaudit,
        parts=parts,
        limitations=LIMITATIONS,
        provenance=provenance(
            seed=now.seed, inputs=now.inputs, settings=settings_from({}, source="api")
        ),
    )


def _inputs(then: Provenance, now: Provenance) -> Iterator[VerifiedPart]:
    """Compare what was read: content and rows, not names, which a copy need not keep."""
    old, new = len(then.inputs), len(now.inputs)
    changed = [
        one
        for one, other in zip(then.inputs, now.inputs, strict=False)
        if _content(one) != _content(other)
    ]
    count = count_text(old)
    if old != new:
        text = f"the report is of {old} files, and {new} were read now"
    elif changed:
        names = ", ".join(safe_name(one.name) for one in changed[:_NAMED_PLACES])
        text = f"another content than the report's: {names}"
    elif any(one.sha256 is None and one.fingerprint is None for one in then.inputs):
        text = f"{count} read; data in memory and standard input may have no sha256"
    else:
        text = f"{count} read, of the same sha256 or fingerprint, and as many rows"
    if old or new:
        yield compared_part("inputs", max(old, new), abs(old - new) or len(changed), text)


def agree(parts: Sequence[VerifiedPart]) -> bool:
    """Tell whether everything that counts agrees."""
    return all(part.status != "differs" for part in parts)


def compared_part(part: str, compared: int, differing: int, text: str) -> VerifiedPart:
    """Return a part that agrees if nothing in it differs."""
    return VerifiedPart(
        part=part,
        status="differs" if differing else "agrees",
        compared=compared,
        differing=differing,
        text=text,
    )


def noted_part(part: str, text: str) -> VerifiedPart:
    """Return what is told and does not count."""
    return VerifiedPart(part=part, status="noted", compared=0, differing=0, text=text)


def _content(one: InputFile) -> tuple[object, ...]:
    return one.rows, one.bytes, one.sha256, one.fingerprint


def _seed(then: Provenance, now: Provenance) -> Iterator[VerifiedPart]:
    """Tell where the seed that is shown is not the one among the settings, which was used."""
    if then.seeds and then.seeds != now.seeds:
        yield VerifiedPart(
            part="seeds in use",
            status="differs",
            compared=len(now.seeds),
            differing=len(set(now.seeds) - set(then.seeds)),
            text="the seeds in use are not those that follow from the input and the settings",
        )
    if (then.seed, then.seed_origin) != (now.seed, now.seed_origin):
        yield compared_part("seed", 1, 1, "the seed is not that of the settings")


def _settings(report: AnyReport) -> Iterator[VerifiedPart]:
    """Tell which settings are stated that had no part in what was computed now."""
    stated = report.provenance.settings
    wrong = without_effect(report.command, stated)
    rejudged = getattr(report, "rejudged", None)
    if rejudged is not None:
        wrong += without_effect("rejudge", rejudged.settings)
    if getattr(report, "blind", None) is None:
        wrong += [one.name for one in stated if one.name == "blind" and one.value is not None]
    if wrong:
        names = ", ".join(map(safe_name, dict.fromkeys(wrong[:_NAMED_PLACES])))
        text = f"unknown, stated twice or stated falsely, and nothing follows from them: {names}"
        yield compared_part("settings", len(stated), len(wrong), text)


def _records_alone(report: AnyReport) -> Iterator[VerifiedPart]:
    """Say what was not computed again: what the records alone tell."""
    blind = getattr(report, "blind", None)
    if blind is None:
        return
    which = "" if blind.report_sha256 is None else f", of sha256 {safe_name(blind.report_sha256)}"
    text = f"taken from this report; the report of mipaudit shift{which}, is verified by itself"
    yield noted_part("records alone", text)


def _shown(data: bytes, report: AnyReport, *, same_version: bool) -> Iterator[VerifiedPart]:
    """Compare what a page shows with what its report says: a reader sees the page alone."""
    if not is_page(data):
        return
    from mipaudit.formats.report_forms import report_as

    drawn = report_as(report, "html").encode()
    if data == drawn:
        yield compared_part("page", 1, 0, "drawn again from the report that it carries: the same")
    elif not same_version:
        text = "drawn by another version: what it shows was not compared with what it carries"
        yield noted_part("page", text)
    elif re.sub(_DRAWING, b"", data) == re.sub(_DRAWING, b"", drawn):
        text = "its words are those of its report; its pictures were drawn otherwise, not compared"
        yield noted_part("page", text)
    else:
        yield compared_part("page", 1, 1, "it does not show what the report that it carries says")


def _values(then: Json, now: Json, *, same_version: bool) -> Iterator[VerifiedPart]:
    """Compare the two documents, but for the provenance, part by part."""
    for name in dict.fromkeys((*then, *now)):
        if name == "provenance":
            continue
        if name not in then and not same_version:
            yield noted_part(name, _ADDED.format("the part"))
            continue
        if name in then and name in now and not then[name] and not now[name]:
            continue  # a part that this report does not have
        # An absent part is compared as a field of the whole, so that it is told apart from null.
        old, new = ({name: one[name]} if name in one else {} for one in (then, now))
        yield values_part(name, [*pairs(old, new, "")], same_version=same_version)


def values_part(name: str, found: Sequence[Pair], *, same_version: bool) -> VerifiedPart:
    """Return whether the values of a part are the same, and where they are not."""
    times = Counter(one.status for one in found)
    # What a later version added is told, and is no difference.
    told = 0 if same_version else times["added"]
    wrong = [
        one
        for one in found
        if one.status in {"differs", "unknown"} or (one.status == "added" and same_version)
    ]
    near, compared = times["near"], len(found) - told
    values = "1 value" if compared == 1 else f"{count_text(compared)} values"
    if wrong:
        text = f"{count_text(len(wrong))} of {values}: {_places(wrong)}"
    else:
        text = f"{values} the same"
        text += f", {count_text(near)} of them within {TOLERANCE:g}" * bool(near)
        text += f"; {_ADDED.format(f'{count_text(told)} more')}" * bool(told)
    return compared_part(name, compared, len(wrong), text)


def _places(wrong: Sequence[Pair]) -> str:
    """Name the first places, and by how much numbers differ at most."""
    # A field's name may come from a file that anybody wrote.
    shown = ", ".join(safe_name(one.place.lstrip(".")) for one in wrong[:_NAMED_PLACES])
    more = f" and {count_text(len(wrong) - _NAMED_PLACES)} more" if wrong[_NAMED_PLACES:] else ""
    gaps = [one.gap for one in wrong if one.gap is not None]
    most = f" (numbers by up to {max(gaps):.3g})" if gaps else ""
    return f"{shown}{more}{most}"


def _versions(then: Provenance, now: Provenance) -> VerifiedPart:
    """Tell what ran then and runs now, where it is not the same."""
    old, new = (
        {
            "mipaudit": one.mipaudit,
            "Python": one.python,
            **one.libraries,
            **({} if one.platform is None else {"platform": one.platform}),
        }
        for one in (then, now)
    )
    both = [name for name in old if name in new]
    changed = [
        f"{safe_name(name)} {safe_name(old[name])} then, {new[name]} now"
        for name in both
        if old[name] != new[name]
    ]
    text = "; ".join(changed) or "the same then and now"
    part = compared_part("versions", len(both), len(changed), text)
    return replace(part, status="noted") if changed else part


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One value of a report and of the other.

    Attributes:
        place: where, as ``estimates[3].lower``.
        status: ``equal``, ``near`` (numbers within the tolerance), ``differs``, ``added`` (the
            other has a field that the report lacks) or ``unknown`` (the other way round).
        gap: between two numbers that are not equal.
    """

    place: str
    status: str
    gap: float | None = None


def pairs(report: Json, other: Json, place: str) -> Iterator[Pair]:
    """Yield every value of two parsed JSON documents, leaf by leaf.

    An empty list or object is a leaf. A field of one document alone is one pair.
    """
    if report is _ABSENT or other is _ABSENT:
        yield Pair(place=place, status="added" if report is _ABSENT else "unknown")
    elif (
        isinstance(report, dict)
        and isinstance(other, dict)
        and report.keys() & other.keys() >= _SAID
    ):
        yield from _said(report, other, place)
    elif isinstance(report, dict) and isinstance(other, dict) and (report or other):
        for name in dict.fromkeys((*report, *other)):
            yield from pairs(report.get(name, _ABSENT), other.get(name, _ABSENT), f"{place}.{name}")
    elif isinstance(report, list) and isinstance(other, list) and (report or other):
        for at in range(max(len(report), len(other))):
            # A row more or less is no field that a later version added.
            if at >= min(len(report), len(other)):
                yield Pair(place=f"{place}[{at}]", status="differs")
            else:
                yield from pairs(report[at], other[at], f"{place}[{at}]")
    else:
        yield _leaf(report, other, place)


def _said(report: Json, other: Json, place: str) -> Iterator[Pair]:
    """Yield what is said as one value: its code, what it names and its sentence."""
    apart = [name for name in ("code", "serious") if "serious" in other]
    for name in apart:
        yield from pairs(report.get(name, _ABSENT), other[name], f"{place}.{name}")
    within = [
        one
        for name in dict.fromkeys((*report, *other))
        if name not in apart
        for one in pairs(report.get(name, _ABSENT), other.get(name, _ABSENT), f"{place}.{name}")
    ]
    yield next(one for status in _WORST_FIRST for one in within if one.status == status)


def _leaf(report: Json, other: Json, place: str) -> Pair:
    if _is_number(report) and _is_number(other):
        if report == other:
            return Pair(place=place, status="equal")
        near = math.isclose(report, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        # A count is a count: 20,000 records are not 20,001.
        near = near and not (isinstance(report, int) and isinstance(other, int))
        return Pair(place=place, status="near" if near else "differs", gap=abs(report - other))
    same = type(report) is type(other) and report == other
    return Pair(place=place, status="equal" if same else "differs")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
