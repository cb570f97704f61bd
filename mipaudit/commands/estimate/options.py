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
        "CSV (also .gz, .zst) or Parquet files, folders or patterns of such files, - for standard "
        "input, or summaries made by mipaudit summarize (*.summary)."
    )


class _Sites(Options):
    GROUP = "Input"

    without_site: Sequence[str] = choice(
        "Go without the summary of this site. Its cuts were used, but its records are not in the "
        "release. Repeat for several.",
        default=(),
        read=site_names,
    )


JOINT_OPTION = free(
    "Make the limits of all rows hold together, with the confidence given. The more lines the "
    "report has, the wider its limits become."
)


class _Limits(Options):
    GROUP = "Statistics"

    joint: bool = JOINT_OPTION.but(default=False)
    method: Literal["prequential", "mace", "kde"] = choice(
        "Also show another method: mace, the published estimator, or kde, kernel densities with "
        "limits for a noised score. Neither decides a verdict.",
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
        "Add a metric: ppv, npv, tpr, tnr, am, accuracy, f1, fbeta:B, wa:w1,w2,w3,w4, "
        "cost:fp=C,fn=C or custom:a11=..,b0=..; repeat for several.",
        default=(),
    )
    min_recall: float = choice(
        "For metrics such as ppv: only count attackers with a recall of at least R.",
        default=0.01,
        metavar="R",
        within=PROBABILITY,
    )


class _Blind(Options):
    GROUP = "Without the model"

    blind: Any = choice(
        "A JSON report of mipaudit shift on the same records. Only what leaks beyond the records "
        "themselves counts as not met. What was not met without this can become inconclusive, "
        "never met.",
        told=_blind_name,
        is_input=True,
        in_python="Or its bytes, or what shift returned.",
    )
    blind_against: Literal["thresholds", "intervals-1", "intervals-4", "bins-16"] | None = choice(
        "Attackers who see the records alone: an upper limit on this class is shown. Decides no "
        "verdict. Default: the widest class.",
        only_with="blind",
    )
    blind_bound: float | None = choice(
        "With `blind`: you assert that nobody who sees the records alone has an advantage above T.",
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

    HELP = """Measure how much anybody could learn about membership from a score.

Reports for every score column the advantage of the best attacker (at least, best
estimate, and at most for named kinds of attacker), the AUC, and true-positive rates at
low false-positive rates. Then says whether a privacy claim or your own policy holds.

\b
Examples:
  mipaudit estimate scores.parquet
      Columns are found by name: member, is_member, in_train, split, ...
      and every score, loss, conf* or other float column.
  mipaudit estimate --members in.csv --holdout out.csv --score-col loss
      Members and holdout in two files.
  mipaudit estimate scores.csv --max-advantage 0.1
      A policy: exit code 0 if it is met, 1 if not, 3 if inconclusive.
  mipaudit estimate scores.csv --claimed-epsilon 1 --delta 1e-5
      Do the scores contradict a differential privacy claim?
  mipaudit estimate "parts/*.parquet" -f json -o report.json
      A report for programs, from many files.
  mipaudit estimate sites/*.summary --max-advantage 0.1
      Parts that were counted elsewhere: see mipaudit summarize --help.
  zcat scores.csv.gz | mipaudit estimate - --prior 0.01
      Before seeing scores, an attacker expects 1 record in 100 to be a member.
  mipaudit estimate scores.csv --max-advantage 0.1 --blind shift.json
      Counts only what leaks beyond the records themselves. See mipaudit shift --help.
  mipaudit estimate scores.csv --prior 0.01 --metric ppv --max-metric ppv=0.5
      Of the records that an attacker calls members, at most half may be members.
"""

    def check(self) -> None:
        """Refuse rows that cannot share the error, and limits that are always kept, or never."""
        super().check()
        if self.joint and self.method != "prequential":
            raise UsageError(
                "joint",
                "Rows of another `method` cannot be part of `joint`.",
                "Leave out `joint` or `method`.",
            )
        _ = self.judged

    @cached_property
    def judged(self) -> "AskedPolicy":
        """The policy, with the metrics that are asked for or limited."""
        return self.policy_at(self.prior, self.min_recall, self.metric)
