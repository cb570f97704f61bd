"""``mipaudit attribute``: how much better an attribute is guessed of members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.commands.attribute.report import AttributeQuantity, AttributeReport
    from mipaudit.statements.provenance.origin import Setting

_NOT_ASKED = ("data", "members", "holdout", "jobs", "progress", "settings")
_HALF = 0.5


def attribute(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or a frame
    holdout: Any = None,  # noqa: ANN401
    attribute_column: str = "attribute",
    guess_column: str = "guess",
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    min_cell: int = 10,
    max_attribute_advantage: float | None = None,
    max_advantage: float | None = None,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> AttributeReport:
    """Return how much better an attribute was guessed of members than of holdout records.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table, with a row for
            each record: its attribute, what was guessed, and whether it is a member.
        members: the members' own file or frame, with ``holdout``, instead of ``data``.
        holdout: the holdout's own.
        attribute_column: holds the attribute as it is; text, or numbers with few values.
        guess_column: holds what was guessed, in the same words; empty for no guess.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        prior: of the reduction to membership, in (0, 1).
        confidence: of every pair of limits, in [0.5, 1).
        min_cell: fewest members and holdout records of a value that is shown, at least 1.
        max_attribute_advantage: policy limit on the attribute advantage of these guesses, in
            (0, 1].
        max_advantage: policy limit on the membership advantage of these guesses, in
            (|2p-1|, 1].
        seed: chooses the row that stands for a person; as for `estimate`.
        hash_inputs: sha256 of inputs over 64 MiB too.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: a setting is wrong.
        InputError: the input cannot be audited as it is.
    """
    given = {name: value for name, value in locals().items() if name not in _NOT_ASKED}
    from mipaudit.commands.attribute.answer import attribute_report
    from mipaudit.commands.attribute.counts import count_guesses, guess_words
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.options.plain_values import number, require, whole
    from mipaudit.options.seed_choice import number_of, seed_choice
    from mipaudit.reading.source.any_input import open_input
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    prior, confidence = number("prior", prior), number("confidence", confidence)
    choice, min_cell = seed_choice(seed), whole("min_cell", min_cell)
    require(0 < prior < 1, "prior", "The prior must be above 0 and below 1.")
    require(
        _HALF <= confidence < 1, "confidence", "The confidence must be at least 0.5 and below 1."
    )
    require(min_cell >= 1, "min_cell", "min_cell must be at least 1.")
    require(
        attribute_column != guess_column,
        "two_roles",
        "The attribute and the guess are the same column.",
        "Name two columns: --attribute-col NAME --guess-col NAME.",
    )
    limits = _limits(max_attribute_advantage, max_advantage, prior)
    if settings is None:
        settings = settings_from(given, source="api")
    request = ReadRequest(
        seed=number_of(choice),
        score_columns=(guess_column,),
        group_columns=(attribute_column, guess_column),
        member_column=member_column,
        member_value=member_value,
        where=where,
        unit_column=unit_column,
        unit_rows=unit_rows,
        rows_are=rows_are,
        # Whoever makes no guess guesses wrong.
        nan="category",
    )
    with guess_words(guess_column), open_input(data, members, holdout, request) as source:
        choice = settle_seed([source], choice, hash_inputs=hash_inputs)
        guesses = count_guesses(source, choice, jobs=jobs, progress=progress)
        source.check_unchanged()
        return attribute_report(
            source,
            guesses,
            (attribute_column, guess_column),
            prior=prior,
            confidence=confidence,
            min_cell=min_cell,
            limits=limits,
            provenance=provenance(
                seed=choice,
                inputs=source.inputs(hash_all=hash_inputs),
                settings=settings,
                seeds=guesses.seeds,
            ),
        )


def _limits(
    of_attribute: float | None, of_membership: float | None, prior: float
) -> dict[AttributeQuantity, float]:
    """Return the policy's limits by quantity.

    Raises:
        UsageError: one that guesses which gain nothing reach, or that none can exceed.
    """
    from mipaudit.options.plain_values import optional, require
    from mipaudit.options.policy.limits import check_advantage_limit

    of_attribute = optional("max_attribute_advantage", of_attribute)
    of_membership = optional("max_advantage", of_membership)
    require(
        of_attribute is None or 0 < of_attribute <= 1,
        "max_attribute_advantage",
        "The limit on the attribute advantage must be above 0 and at most 1.",
    )
    check_advantage_limit(of_membership, abs(2 * prior - 1))
    found: dict[AttributeQuantity, float | None] = {
        "attribute_advantage": of_attribute,
        "membership_advantage": of_membership,
    }
    return {quantity: limit for quantity, limit in found.items() if limit is not None}
