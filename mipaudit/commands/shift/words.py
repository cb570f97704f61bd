"""What a report on a shift between members and holdout says in words, and what it remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.learner import MOST_WORDS
from mipaudit.report.verdict_sentence import judged
from mipaudit.statements.estimate import Estimate, Finding
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from mipaudit.commands.shift.record_copies import SharedRecords
    from mipaudit.commands.shift.report import ShiftDesign
    from mipaudit.commands.shift.survey import ColumnTest
    from mipaudit.statements.verdict import Verdict


_NAMED: Final = 5
_BLIND: Final = (
    "The blind advantage is what somebody can tell of membership from the columns of a record "
    "alone, without the release. Columns that are not in the tables may tell more."
)
_NO_UPPER: Final = (
    "Each 'at most' names its attackers: those who use the learned score in that way. No upper "
    "limit holds for every attacker who sees a whole record: another way of looking may tell more."
)
_UPPER: Final = (
    "The upper limit for any attacker is about the columns compared, which hold few combinations "
    "of values; the others name their attackers."
)
_PASSING: Final = (
    "That no difference is shown does not prove that there is none, nor that records are "
    "independent: families, or several records of a person, can be told apart through a model "
    "although both classes have the same law."
)
_BURN_IN: Final = (
    "A part of the rows, the burn-in, taught the attackers and chose the cells; only the others "
    "are counted. Running again with other seeds and keeping the best makes the limits untrue."
)
_TESTS: Final = (
    "A column's test looks at one column by itself, and takes rows to be independent; columns "
    "that differ only together are seen by the learned score alone."
)
_APPROXIMATE: Final = (
    "The limits of the advantage are approximate at some sample sizes; their coverage is in the "
    "documentation."
)
_STRICTER: Final = "With `strict` they hold at every sample size."
_PERSONS: Final = (
    "Rows are taken to be independent. Where a person can have several, give `id_col`: one row "
    "for each person and class is then kept, and persons in both classes are counted."
)
_COLUMNS_TO_REPEAT: Final = 3  # in fewer, copies are common by chance


def shift_summary(
    design: ShiftDesign,
    estimates: Sequence[Estimate],
    differing: Sequence[ColumnTest],
    copies: SharedRecords,
    verdict: Verdict,
    *,
    limited: bool,
) -> str:
    """Return what was compared, how sure the difference is, and what it means.

    ``limited`` says whether upper limits of what was learned say anything of the records.
    """
    parts = [
        _measured(design, estimates),
        _columns(design, differing),
        _copied(copies),
        _meaning(estimates, limited=limited),
        judged(verdict) if verdict.status != "no_policy" else "",
    ]
    return " ".join(part for part in parts if part)


def widest(estimates: Sequence[Estimate]) -> Estimate | None:
    """Return the row with the largest upper limit of a named class; None without any."""
    named = [one for one in estimates if one.attackers != "any" and one.upper is not None]
    return max(named, key=lambda one: one.upper or 0.0) if named else None


def _measured(design: ShiftDesign, estimates: Sequence[Estimate]) -> str:
    first = estimates[0]
    rows = f"{count_text(design.n_members)} members and {count_text(design.n_holdout)} holdout"
    columns = _many(len(design.features), "column")
    sure = f"{percent_text(design.confidence)} confidence"
    lower = first.lower or 0.0
    most = widest(estimates)
    limit = (
        ""
        if most is None or most.upper is None
        else (
            f" It is at most {upper_text(most.upper)} {against_phrase(most.attackers)} on what was "
            "learned."
        )
    )
    value = value_text(first.value or 0.0)
    if lower > 0:
        return (
            f"From {rows} records with {columns}: at {sure}, members and holdout can be told apart "
            f"without the model, with an advantage of at least {lower_text(lower)} (best estimate "
            f"{value}).{limit}"
        )
    return (
        f"From {rows} records with {columns}: at {sure}, members and holdout are not shown to "
        f"differ (blind advantage: best estimate {value}).{limit}"
    )


def _columns(design: ShiftDesign, differing: Sequence[ColumnTest]) -> str:
    sure = percent_text(design.confidence)
    if not differing:
        return f"No column by itself is shown to differ (all tests together: {sure} confidence)."
    names = list(dict.fromkeys(one.column for one in differing))
    shown = ", ".join(f"'{safe_name(name)}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"{_many(len(names), 'column')} surely differ: {shown}{more}."
        if len(names) > 1
        else (f"One column surely differs: {shown}.")
    )


def _copied(copies: SharedRecords) -> str:
    whole = copies.searched == copies.holdout
    of = f"Of {count_text(copies.searched)} holdout records"
    parts = [
        f"{count_text(count)} {'has' if count == 1 else 'have'} {what}"
        for count, what in (
            (copies.exact, "an exact copy among the members"),
            (copies.but_one, "a copy there that differs in one column"),
            (copies.persons, "a person who is a member too"),
        )
        if count
    ]
    if not parts:
        return ""
    return f"{of}{'' if whole else ' that were looked for'}, {' and '.join(parts)}."


def _meaning(estimates: Sequence[Estimate], *, limited: bool) -> str:
    lower, most = estimates[0].lower or 0.0, widest(estimates)
    if lower > 0:
        return (
            "What a model seems to leak may be this difference alone: give this report to mipaudit "
            "estimate --blind, or draw members and holdout anew, at random from the same records."
        )
    if most is None or most.upper is None or not limited:
        return ""
    return (
        "A smaller difference than can be shown here may still be in an advantage that is "
        "measured on a model: mipaudit estimate --blind says what that leaves open."
    )


def shift_limitations(
    design: ShiftDesign, estimates: Sequence[Estimate], *, stated: bool
) -> tuple[str, ...]:
    """Return what the numbers do not show; ``stated``: `strict` and a seed were asked for."""
    approximate = _APPROXIMATE if stated else f"{_APPROXIMATE} {_STRICTER}"
    limited = any(one.attackers == "any" and one.upper is not None for one in estimates)
    return (
        _BLIND,
        _UPPER if limited else _NO_UPPER,
        _PASSING,
        _BURN_IN,
        _TESTS,
        *(() if design.strict else (approximate,)),
        *(() if design.id_column is not None else (_PERSONS,)),
    )


def _many(count: int, noun: str) -> str:
    return f"{count_text(count)} {noun}" if count == 1 else f"{count_text(count)} {noun}s"


def effect_text(effect: float) -> str:
    """Return a difference of shares in percentage points, with its sign: ``+12.3``."""
    return f"{100 * effect:+.1f}"


def p_text(p_value: float) -> str:
    """Return a p-value as short as it goes."""
    return "below 1e-12" if p_value < 1e-12 else number_text(float(f"{p_value:.2g}"))  # noqa: PLR2004


def copy_findings(copies: SharedRecords) -> Iterator[Finding]:
    """Yield what is said of records that are in both classes."""
    searched = copies.searched
    if searched < copies.holdout:
        yield Finding.of("copies_sampled", searched=searched, holdout=copies.holdout)
    if copies.exact:
        yield Finding.of(
            "exact_copies",
            case="of_members" if copies.exact_within is None else "of_both",
            count=copies.exact,
            searched=searched,
            within=copies.exact_within,
        )
    for count, code in (
        (copies.but_one, "near_copies"),
        (copies.rounded, "rounded_copies"),
        (copies.persons, "shared_persons"),
    ):
        if count:
            yield Finding.of(code, count=count, searched=searched)


def telling_findings(telling: Sequence[str], unknown: Sequence[str]) -> list[Finding]:
    """Return what is said of columns that tell all, and of those that few texts are known of.

    Args:
        telling: names of columns each of which tells nearly all records apart by itself.
        unknown: names of columns most of whose texts were not looked at.
    """
    found = []
    if telling:
        ignore = ",".join(map(safe_name, telling))
        found.append(Finding.of("telling_column", columns=_quoted(telling), ignore=ignore))
    if unknown:
        found.append(Finding.of("many_texts", columns=_quoted(unknown), words=MOST_WORDS))
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{safe_name(name)}'" for name in names)


def repeated_findings(copies: SharedRecords, design: ShiftDesign) -> list[Finding]:
    """Return what is said of records with a copy in their own class."""
    few = len(design.features) < _COLUMNS_TO_REPEAT
    if not copies.exact_within or few or design.id_column is not None:
        return []
    return [Finding.of("repeated_rows", count=copies.exact_within, searched=copies.searched)]


def column_findings(
    constant: Sequence[str],
    rounded: Sequence[str],
    skipped: Sequence[tuple[str, str]],
    dropped: int,
) -> list[Finding]:
    """Return what is said of columns and rows that were changed or left out.

    Args:
        constant: names of columns that are the same in all rows.
        rounded: names of columns that some files store more coarsely than others.
        skipped: (name, why) of columns that were not read.
        dropped: rows of persons who have another row in the same class.
    """
    found = []
    if constant:
        found.append(Finding.of("constant_column", case="columns", columns=_quoted(constant)))
    if rounded:
        found.append(Finding.of("rounded_numbers", case="columns", columns=_quoted(rounded)))
    parted = [name for name, why in skipped if why.startswith("another number")]
    if parted:
        found.append(Finding.of("parted_numbers", columns=_quoted(parted)))
    lone = [name for name, why in skipped if why.startswith("in one")]
    if lone:
        found.append(Finding.of("column_in_one_table", columns=_quoted(lone)))
    if dropped:
        found.append(Finding.of("rows_of_a_person", rows=dropped))
    return found
