"""``mipaudit attack``: what the named adversaries of the literature achieve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.attack.options import AttackOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.attack.report import AttackReport


def answer_attack(asked: AttackOptions) -> AttackReport:
    """Return what named adversaries achieve, with limits, beside the best attacker's.

    An adversary that learns something from the data learns it from the burn-in, the rows
    that a hash of their identity picks out, and is judged on the other rows; one that is
    told everything is judged on all rows. All scores are held in memory.

    Raises:
        UsageError: a setting is wrong, or makes no sense beside another.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.commands.attack.answer import attack_report
    from mipaudit.commands.attack.scores import hold_rows, seeds_of
    from mipaudit.counting.scores import settle_seed
    from mipaudit.data.opening import open_input
    from mipaudit.data.request import read_request
    from mipaudit.statements.provenance import provenance

    request = read_request(asked, seed=asked.chosen_seed, group_columns=asked.by)
    with open_input(asked.data, asked.members, asked.holdout, request) as source:
        seed_used = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        scores = hold_rows(source, asked)
        source.opened.check_unchanged()
        return attack_report(
            source,
            scores,
            asked,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=seeds_of(scores),
                unused_columns=source.unused,
            ),
        )


attack = public(AttackOptions, answer_attack)
