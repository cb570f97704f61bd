"""``mipaudit attribute``: how much better an attribute is guessed of members."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.commands.attribute.options import AttributeOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.attribute.report import AttributeReport


def answer_attribute(asked: AttributeOptions) -> AttributeReport:
    """Return how much better an attribute was guessed of members than of holdout records.

    There is a row for each record: its attribute, which is text or a number with few values,
    what was guessed in the same words, or nothing, and whether it is a member.

    Raises:
        UsageError: a setting is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.commands.attribute.answer import attribute_report
    from mipaudit.commands.attribute.guesses import count_guesses, guess_words
    from mipaudit.counting.scores import settle_seed
    from mipaudit.data.opening import open_input
    from mipaudit.data.request import read_request
    from mipaudit.statements.provenance import provenance

    columns = (asked.attribute_col, asked.guess_col)
    request = replace(
        read_request(asked, seed=asked.chosen_seed, group_columns=columns),
        score_columns=(asked.guess_col,),
        # Whoever makes no guess guesses wrong.
        nan="category",
    )
    with (
        guess_words(asked.guess_col),
        open_input(asked.data, asked.members, asked.holdout, request) as source,
    ):
        seed_used = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        guesses = count_guesses(source, asked)
        source.opened.check_unchanged()
        return attribute_report(
            source,
            guesses,
            asked,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=guesses.seeds,
            ),
        )


attribute = public(AttributeOptions, answer_attribute)
