"""What ``mipaudit validate`` may be asked."""

from collections.abc import Sequence
from typing import Final

from mipaudit.options.declare import Options, act, choice
from mipaudit.options.game import STRICT_OPTION, FixedSeed, Recorded
from mipaudit.options.scores import JOBS_OPTION, Followed
from mipaudit.options.values import Range, between, file_path, numbers, whole_numbers

_FEWEST_RECORDS: Final = 20
_MOST_RECORDS: Final = 10_000_000
_MOST_REPLICATIONS: Final = 1_000_000
_MOST_JOBS: Final = 1_024


class _Cells(Options):
    long: bool = choice("The long form, or the short one.", default=False, off="--quick")
    estimand: Sequence[str] = choice(
        "Test only the limits of this quantity, such as auc. Repeat for several. Default: all.",
        default=(),
        recorded_as="estimands",
    )
    scenario: Sequence[str] = choice(
        "Use only this scenario of mipaudit simulate; repeat for several.",
        default=(),
        recorded_as="scenarios",
    )
    replications: int | None = choice(
        "Files for each scenario, size and prior; 1,000 by default, or 4,000 in the long form.",
        metavar="R",
        within=between(1, _MOST_REPLICATIONS),
    )
    sizes: Sequence[int] = choice(
        "Records per file, half of them members.",
        default=(),
        metavar="N,N,...",
        within=Range(
            lambda sizes: all(_FEWEST_RECORDS <= n <= _MOST_RECORDS for n in sizes),
            f"each from {_FEWEST_RECORDS} to {_MOST_RECORDS:,}",
        ),
        read=whole_numbers,
    )
    priors: Sequence[float] = choice(
        "Priors to test: each the probability that a record is a member.",
        default=(),
        metavar="P,P,...",
        within=Range(lambda priors: all(0 < p < 1 for p in priors), "each above 0 and below 1"),
        read=numbers,
    )
    strict: bool = STRICT_OPTION.but(
        "Test the limits that estimate gives with its own `strict`.", default=False, in_python=None
    )


class _Run(Options):
    jobs: int | None = JOBS_OPTION.but(
        "Number of processes. The answer does not depend on it. Default: one per processor.",
        within=between(1, _MOST_JOBS),
    )
    resume: str | None = act(
        "Save finished parts in this file, and continue from it.", metavar="FILE", read=file_path
    )


class ValidateOptions(_Cells, FixedSeed, _Run, Followed, Recorded):
    """Which limits, on which files, and how they are run."""

    HELP = """Check on your own machine how often confidence limits hold.

Makes score files whose true leak is known, audits each as mipaudit estimate would, and counts how
often each confidence limit misses the truth. To test this check itself, it also audits with methods
that are known to be wrong. Exit code 0: every limit of mipaudit holds as often as promised; 1: one
does not, or a wrong method was not detected.

\b
Examples:
  mipaudit validate
      The short form: about five minutes on two processors.
  mipaudit validate --long --resume cells.jsonl -f markdown -o validation.md
      The long form: about an hour. Stop it when you like, and run it again to continue.
  mipaudit validate --scenario comb-64 --sizes 200,5000 --priors 0.5 --replications 2000
      Chooses the scenario, the records per file, the prior and the number of files.
"""
