"""``mipaudit bounds``: what a guarantee allows an attacker, and back."""

from __future__ import annotations

from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.commands.bounds.report import BoundsReport
from mipaudit.options.public import public


def answer_bounds(asked: BoundsOptions) -> BoundsReport:
    """Translate between a privacy guarantee and what an attacker can do.

    One question at a time: what a guarantee allows, which guarantee a target needs, or
    which guarantees an attack rules out. No data is read.

    Raises:
        UsageError: nothing to translate, contradictory settings, or one out of its range.
        MissingExtraError: ``dp_sgd`` or ``compose`` without the accountant.
    """
    from mipaudit.statements.provenance import provenance

    empty = BoundsReport(
        command="bounds",
        guarantee=None,
        attacker=None,
        other_readings=(),
        bounds=(),
        target=None,
        needed=(),
        refuted=None,
        counting_queries=None,
        limitations=(),
        provenance=provenance(seed=None, inputs=(), settings=asked.recorded()),
    )
    match asked.question:
        case "guarantee":
            from mipaudit.commands.bounds.allowed_by_guarantee import what_is_allowed

            return what_is_allowed(asked, empty)
        case "target":
            from mipaudit.commands.bounds.needed_for_target import what_is_needed

            return what_is_needed(asked, empty)
        case "attack":
            from mipaudit.commands.bounds.ruled_out_by_attack import what_is_ruled_out

            return what_is_ruled_out(asked, empty)


bounds = public(BoundsOptions, answer_bounds)
