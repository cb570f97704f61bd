"""What ``mipaudit estimate`` may be asked."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mipaudit.errors import UsageError
from mipaudit.options import game, scores
from mipaudit.options.declare import Options, choice, free
from mipaudit.options.values import BELOW_ONE, PROBABILITY, path_of, site_names

if TYPE_CHECKING:
    from mipaudit.options.checked_limits import AskedPolicy
    from mipaudit.statements.claim import EpsilonClaim


def _blind_name(given: Any) -> str | None:  # noqa: ANN401 - a path, bytes, or a report
    path = path_of(given)
    return path if path is None or isinstance(path, str) else "a report in memory"


class _Data(Options, kw_only=False):
    data: scores.Data = scores.SEVERAL_OPTION.but(
        "CSV (also .gz, .zst) or Parquet files, folders or patterns of such files, addresses "
        "(s3://, gs://, az://, https://), - for standard input, or summaries made by mipaudit "
        "summarize (*.summary)."
    )


class _Sites(Options):
    GROUP = "Input"

    without_site: Sequence[str] = choice(
        "If a site's summary is missing: state that no record of the site was used for the "
        "release. Repeat for several sites.",
        default=(),
        read=site_names,
    )


JOINT_OPTION = free(
    "Make the confidence hold for all rows of the report together. This makes limits wider."
)


class _Limits(Options):
    GROUP = "Statistics"

    joint: bool = JOINT_OPTION.but(default=False)
    method: Literal["prequential", "mace", "kde"] = choice(
        "Show the usual figures alone (prequential), or also an estimate by the method of a paper "
        "(mace), or also upper limits for attackers who see the score only with random noise on it "
        "(kde). Verdicts always use the usual figures.",
        default="prequential",
    )


class _Claim(game.Neighbours):
    GROUP = "Claim"

    adjacency: Literal["substitution", "add-remove"] | None = game.ADJACENCY_OPTION.but(
        only_with="claimed_epsilon"
    )
    claimed_epsilon: float | None = game.CLAIMED_EPSILON_OPTION.but(
        "Test whether the scores contradict this claim of differential privacy."
    )
    delta: float = game.DELTA_OPTION.but(
        "The delta of the claim.", default=0.0, within=BELOW_ONE, only_with="claimed_epsilon"
    )

    @property
    def claim(self) -> "EpsilonClaim | None":
        """The claim that is compared with, if any."""
        claimed = self.claimed_epsilon
        return None if claimed is None else (claimed, self.delta, self.adjacency or "unknown")


class _Metrics(Options):
    GROUP = "Metrics"

    metric: Sequence[str] = free(
        "Add a metric, such as ppv or f1. Repeat for several. See mipaudit help other-measures.",
        default=(),
    )
    min_recall: float = choice(
        "For metrics such as ppv: count only attackers who find at least a share R of the members.",
        default=0.01,
        metavar="R",
        within=PROBABILITY,
    )


class _Blind(Options):
    GROUP = "What the records alone reveal"

    blind: Any = choice(
        "A JSON report of mipaudit shift on the same records. What the records alone reveal is "
        "then not counted against a policy limit. This can turn not met into inconclusive, but "
        "never into met.",
        told=_blind_name,
        is_input=True,
        in_python="Or its bytes, or what shift returned.",
    )
    blind_against: Literal["thresholds", "intervals-1", "intervals-4", "bins-16"] | None = choice(
        "Show an upper limit of what this kind of attackers can tell from the records alone. It "
        "changes no verdict. Default: the kind with the highest upper limit.",
        only_with="blind",
    )
    blind_bound: float | None = choice(
        "With `blind`: state that nobody who sees only the records has an advantage above T.",
        metavar="T",
        within=BELOW_ONE,
        only_with="blind",
    )


class EstimateOptions(
    _Data,
    scores.Classes,
    scores.Columns,
    _Sites,
    game.Game,
    _Limits,
    scores.Discreteness,
    scores.Sides,
    _Claim,
    scores.ScorePolicy,
    _Metrics,
    _Blind,
    scores.BadParts,
    scores.StrictlySeeded,
    scores.Engines,
):
    """The scores, what is said of them, a claim and a policy."""

    HELP = """Measure how well a score reveals who was in the training data.

An attacker sees a record's score and guesses whether the record is a member. The advantage says how
well the best attacker guesses: 0 is a coin toss, 1 is always right. For every score, the report
shows a lower confidence limit of the advantage (at least), an upper one for a named kind of
attackers (at most), and the best estimate. It also says whether your policy is met, and whether the
scores contradict a privacy claim. mipaudit help glossary explains the words of the report.

\b
Examples:
  mipaudit estimate scores.parquet
      Finds the membership column by its name: member, is_member, in_train, split, ...
      Takes columns named score, loss or conf..., and all columns of decimal numbers, as scores.
  mipaudit estimate --members in.csv --holdout out.csv --score-col loss
      Members and holdout in two files.
  mipaudit estimate scores.csv --max-advantage 0.1
      A policy: exit code 0 if it is met, 1 if not, 3 if inconclusive.
  mipaudit estimate scores.csv --claimed-epsilon 1 --delta 1e-5
      Tests whether the scores contradict a claim of differential privacy.
  mipaudit estimate "parts/*.parquet" -o report.json
      Writes a report for programs, from many files.
  mipaudit estimate sites/*.summary --max-advantage 0.1
      Adds up counts of several places, such as hospitals (mipaudit summarize --help).
  mipaudit estimate scores.csv --max-advantage 0.1 --blind shift.json
      Does not count what is revealed without the release (mipaudit shift --help).
  mipaudit estimate scores.csv --prior 0.01 --metric ppv --max-metric ppv=0.5
      A policy: if 1 record in 100 is a member, an attacker may be right about at most half of the
      records that the attacker calls members.
"""

    def check(self) -> None:
        """Refuse rows that cannot share the error, and limits that are always kept, or never."""
        super().check()
        if self.joint and self.method != "prequential":
            raise UsageError(
                "joint",
                "`joint` cannot be used with another `method`.",
                "Leave one of them out.",
            )
        _ = self.judged

    @cached_property
    def judged(self) -> "AskedPolicy":
        """The policy, with the metrics that are asked for or limited."""
        return self.policy_at(self.prior, self.min_recall, self.metric)
