"""What a report of ``estimate`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.sections import (
    Contents,
    Footnotes,
    ScoreSection,
    judged_on,
    lower_word,
    methods,
    section,
    upper_word,
    value_word,
)
from mipaudit.commands.estimate.words import blind_line
from mipaudit.formats.declared import people_section
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    BEST_ESTIMATE,
    CLAIM_MEANING,
    STATUS,
    UNSAID,
    Bullets,
    Case,
    Document,
    Grid,
    Heading,
    Mood,
    Pairs,
    Paragraph,
    bulleted,
    how_to_read,
    mark,
    quoted,
)
from mipaudit.formats.origin_sections import taken
from mipaudit.formats.policy.blocks import MOODS, check_cases, claim_name, policy_section
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import left_out_note, verdict_note
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.text.rounding import count_text, lower_text, number_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    from mipaudit.commands.estimate.report import Report
    from mipaudit.formats.document import Section
    from mipaudit.statements.claim import Claim

_MOODS: Final[Mapping[str, Mood]] = {**MOODS, "contradicted": "bad", "not_comparable": "open"}
_MOST_REASONS: Final = 5
_FEW: Final = 12  # more scores are not all shown in full: nobody would read the page
_STRONGEST: Final = 5


def headline(report: Report) -> str:
    """Return the verdict in one short sentence, or that there is none."""
    status = report.verdict.status
    if status != "no_policy":
        note = verdict_note(report.verdict) + left_out_note(report.findings)
        return f"Verdict: {STATUS[status]}{note}."
    if report.claims:
        found = claim_status(report)
        return f"Claim: {STATUS[found]} ({CLAIM_MEANING[found]}){verdict_note(report.verdict)}."
    return "No policy was given, so there is no verdict."


def claim_status(report: Report) -> str:
    """Return the gravest status among the claims, of which there is at least one."""
    return gravest_claim(report.claims).status


def estimate_document(report: Report) -> Document:
    """Return the report as a document: verdict first, then what it rests on."""
    return Document(
        title="mipaudit estimate",
        headline=headline(report),
        mood=mood(report),
        summary=report.summary,
        sections=tuple(part for part in _sections(report) if part),
        cases=tuple(_cases(report)),
        created=report.provenance.created,
        leads=report.verdict.status == "no_policy" and not report.claims,
    )


def mood(report: Report) -> Mood:
    """Return how the outcome is shown."""
    status: str = report.verdict.status
    if status == "no_policy" and report.claims:
        status = claim_status(report)
    return _MOODS.get(status, "plain")


def _sections(report: Report) -> Iterator[Section]:
    if report.policy or report.claims:
        yield (Heading(text="Why"), Bullets(texts=_few(tuple(map(told, report.verdict.reasons)))))
    contents = Contents.of(report)
    yield policy_section(report.policy)
    yield from _claims(report)
    made = report.provenance
    yield people_section(report.estimates, report.design, made.declared, made.settings)
    yield from _scores(report, contents)
    found = tuple(f"{mark(one)}{told(one)} [{one.code}]" for one in report.findings)
    yield bulleted("Worth knowing about the input", found)
    yield bulleted(UNSAID, report.limitations)
    pairs = (
        *taken(report.design, report.provenance),
        (
            "prior",
            f"{number_text(report.design.prior)}: how likely a challenged record is a member",
        ),
        *(() if report.blind is None else (("records alone", blind_line(report.blind)),)),
        *(() if contents.judged is None else (("judged on", judged_on(*contents.judged)),)),
    )
    yield (Heading(text="What was taken"), Pairs(pairs=pairs))


def _few(reasons: tuple[str, ...]) -> tuple[str, ...]:
    more = len(reasons) - _MOST_REASONS
    rest = (f"and {count_text(more)} more, below",) if more > 0 else ()
    return (*reasons[:_MOST_REASONS], *rest)


def _scores(report: Report, contents: Contents) -> Iterator[Section]:
    notes = Footnotes()
    yield (Heading(text="How to read the figures"), Pairs(pairs=how_to_read(report.design)))
    shown = contents.scores
    if len(shown) > 1:
        yield _overview(contents, notes)
    if len(shown) > _FEW:
        text = (
            f"The strongest {_STRONGEST} of {count_text(len(shown))} scores follow in full; the "
            "rest is in the report for programs (-f json, or csv)."
        )
        yield (Paragraph(text=text),)
        shown = shown[:_STRONGEST]
    for score in shown:
        yield _score(section(contents, score, notes))
    marks = tuple((f"[{number}]", text) for number, text in enumerate(notes.texts, start=1))
    yield (Pairs(pairs=(*marks, *(("method", text) for text in methods(report)))),)


def _overview(contents: Contents, notes: Footnotes) -> Section:
    title = "Every score, the strongest first"
    rows = []
    for score in contents.scores:
        main, auc = contents.advantage(score), contents.auc(score)
        cut = contents.advantage(score, "thresholds")
        words = (
            lower_word(main, notes) if main else "",
            value_word(main, notes) if main else "",
            upper_word(cut, notes) if cut else "",
            value_word(auc, notes) if auc else "",
        )
        rows.append((quoted(score), *words))
    head = ("score", AT_LEAST, BEST_ESTIMATE, f"{AT_MOST}, one threshold", "AUC")
    return (
        Heading(text=title),
        Grid(caption="Advantage of each score", head=head, rows=tuple(rows), words=1),
    )


def _score(shown: ScoreSection) -> Section:
    name = f"Score {quoted(shown.score)}"
    tables = ((Heading(text=table.caption, level=3), table) for table in shown.tables)
    blocks = [block for titled in tables for block in titled]
    return (Heading(text=name), *blocks, Bullets(texts=shown.remarks))


def _claims(report: Report) -> Iterator[Section]:
    if not report.claims:
        return
    rows = tuple(
        (
            quoted(claim.score),
            STATUS[claim.status],
            lower_text(claim.lower),
            "-" if claim.allowed_advantage is None else upper_text(claim.allowed_advantage),
        )
        for claim in report.claims
    )
    grid = Grid(
        caption="The advantage that was found beside what the claim allows",
        head=("score", "status", AT_LEAST, "the claim allows"),
        rows=rows,
        words=2,
    )
    statuses = dict.fromkeys(claim.status for claim in report.claims)
    pairs = [(STATUS[status], CLAIM_MEANING[status]) for status in statuses]
    pairs += [("rests on", text) for text in dict.fromkeys(c.rests_on for c in report.claims)]
    conversions = dict.fromkeys(c.conversion for c in report.claims if c.conversion)
    pairs += [("conversion", text) for text in conversions]
    yield (Heading(text=f"Claim: {claim_name(report.claims[0])}"), grid, Pairs(pairs=tuple(pairs)))
    for bounds in dict.fromkeys(claim.bounds for claim in report.claims if claim.bounds):
        yield (
            Grid(
                caption="Published bounds of the advantage under this claim",
                head=("published bound", "advantage", "source, and what it assumes"),
                rows=tuple(
                    (one.name, upper_text(one.advantage), f"{one.source}; {one.assumes}")
                    for one in bounds
                ),
                words=1,
                prose=True,
            ),
        )


def _cases(report: Report) -> Iterator[Case]:
    if report.policy:
        yield from check_cases(report.policy, "estimate", report.verdict)
    yield from map(_claim_case, report.claims)
    if not report.policy and not report.claims:
        yield Case(
            group="estimate",
            name="policy",
            status="skipped",
            text="no policy and no claim was given to compare with",
        )


def _claim_case(claim: Claim) -> Case:
    status: Literal["passed", "failed", "skipped"] = "passed"
    if claim.status == "contradicted":
        status = "failed"
    elif claim.status in {"not_comparable", "vacuous"}:
        status = "skipped"  # nothing was shown either way
    return Case(group=claim.score, name=claim_name(claim), status=status, text=told(claim.reason))
