"""``mipaudit noise``: how much noise makes a release membership-inference private."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.noise.options import AddNoiseOptions, NoiseOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.noise.answer import NoisedRelease
    from mipaudit.commands.noise.report import NoiseReport


def answer_noise(asked: NoiseOptions) -> NoiseReport:
    """Say how much noise keeps every attacker's accuracy within eta of guessing.

    Without ``splits`` this is mathematics: multipliers of what each calibration needs to
    know. With them it is an estimate, and the noise of least error is chosen.

    Raises:
        UsageError: a setting is out of its range, or has no meaning beside another.
        InputError: the splits or pairs cannot be used.
    """
    if asked.splits is None:
        from mipaudit.commands.noise.promise import promise_report

        return promise_report(asked)
    from mipaudit.commands.noise.answer import report_on_splits

    return report_on_splits(asked)


def answer_add_noise(asked: AddNoiseOptions) -> NoisedRelease:
    """Add the noise that a promise takes to a release (Izzo et al. 2022, Algorithm 1).

    Returns:
        What may be published, and the report; and what the owner alone should know. The
        entropy is the operating system's unless there is a ``seed``.

    Raises:
        UsageError: a setting is out of its range, or has no meaning beside another.
        InputError: the splits, pairs or release cannot be used, or do not belong together.
    """
    from mipaudit.commands.noise.answer import noised_release

    return noised_release(
        asked, asked.release, form=asked.format, unlike=asked.release_unlike_splits
    )


noise = public(NoiseOptions, answer_noise)
add_noise = public(AddNoiseOptions, answer_add_noise)
