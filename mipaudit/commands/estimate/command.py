"""``mipaudit estimate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer  # noqa: TC002 - typer reads the annotations when it runs

from mipaudit.options import common_options as c  # noqa: TC001 - typer reads it
from mipaudit.options import shared_options as o  # noqa: TC001
from mipaudit.output.exit_code import verdict_exit

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report
    from mipaudit.output.destination import Destination

HELP: Final = """Say how much anybody could learn about membership from a score.

For every score column: the advantage of the best attacker (at least / best estimate
/ at most, for named kinds of attacker), AUC, and true-positive rates at low
false-positive rates; then whether a privacy claim or your own policy holds.

\b
Examples:
  mipaudit estimate scores.parquet
      Columns are found by name: member, is_member, in_train, split, ...
      and every score, loss, conf* or other float column.
  mipaudit estimate --members in.csv --holdout out.csv --score-col loss
      Members and holdout in two files.
  mipaudit estimate scores.csv --max-advantage 0.1
      A policy: exit 0 if it is met, 1 if not, 3 if nobody can tell yet.
  mipaudit estimate scores.csv --claimed-epsilon 1 --delta 1e-5
      Do the scores contradict a differential privacy claim?
  mipaudit estimate 'parts/*.parquet' -f json -o report.json
      A report for programs, from many files.
  mipaudit estimate sites/*.summary --max-advantage 0.1
      Parts that were summarized elsewhere: mipaudit summarize --help.
  zcat scores.csv.gz | mipaudit estimate - --prior 0.01
      One challenged record in a hundred is a member.
  mipaudit estimate scores.csv --max-advantage 0.1 --blind shift.json
      Only what goes beyond the records themselves counts: mipaudit shift --help.
  mipaudit estimate scores.csv --prior 0.01 --metric ppv --max-metric ppv=0.5
      Of those whom an attacker calls members, how many are? At most half may be.
"""


def estimate(  # noqa: PLR0913, PLR0917 - one parameter for each option
    context: typer.Context,
    scores: o.ScoresArguments = None,
    members: o.MembersOption = None,
    holdout: o.HoldoutOption = None,
    score_columns: o.ScoreColumnOption = None,
    member_column: o.MemberColumnOption = None,
    member_value: o.MemberValueOption = None,
    where: o.WhereOption = None,
    unit_column: o.UnitColumnOption = None,
    unit_rows: o.UnitRowsOption = None,
    rows_are: o.RowsAreOption = None,
    key_column: o.KeyColumnOption = None,
    nan: o.NanOption = "error",
    prior: c.PriorOption = 0.5,
    confidence: c.ConfidenceOption = 0.95,
    strict: o.StrictOption = False,  # noqa: FBT002
    joint: o.JointOption = False,  # noqa: FBT002
    method: o.MethodOption = "prequential",
    discrete: o.DiscreteOption = False,  # noqa: FBT002
    member_side: o.MemberSideOption = "auto",
    claimed_epsilon: o.ClaimedEpsilonOption = None,
    delta: o.DeltaOption = 0.0,
    adjacency: c.AdjacencyOption = None,
    max_advantage: o.MaxAdvantageOption = None,
    max_eta: o.MaxEtaOption = None,
    max_copies: o.MaxCopiesOption = None,
    max_tpr_at_fpr: o.MaxTprAtFprOption = None,
    against: o.AgainstOption = None,
    metric: o.MetricOption = None,
    max_metric: o.MaxMetricOption = None,
    min_recall: o.MinRecallOption = 0.01,
    on_inconclusive: o.OnInconclusiveOption = "review",
    on_bad_part: o.OnBadPartOption = "error",
    blind: o.BlindOption = None,
    blind_against: o.BlindAgainstOption = None,
    blind_bound: o.BlindBoundOption = None,
    seed: o.AuditSeedOption = None,
    hash_inputs: o.HashInputsOption = False,  # noqa: FBT002
    jobs: o.JobsOption = None,
    engine: o.EngineOption = "auto",
    scheduler: o.SchedulerOption = None,
    format: c.FormatOption = "table",  # noqa: A002
    output: c.OutputOption = None,
    sha256: c.Sha256Option = True,  # noqa: FBT002
    quiet: c.QuietOption = False,  # noqa: FBT002
    verbose: c.VerboseOption = False,  # noqa: FBT002
    exit_zero: o.ExitZeroOption = False,  # noqa: FBT002
) -> int:
    """Run the audit and write its report; return the exit code."""
    from mipaudit.cli.settings.configured_command import listed_policy
    from mipaudit.cli.settings.settings import settings_of
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.commands.estimate import run as api
    from mipaudit.options.seed_text import parse_seed
    from mipaudit.options.texts.operating_limit import parse_operating_limit
    from mipaudit.output.destination import Destination
    from mipaudit.output.notes import tame_warnings
    from mipaudit.output.progress import progress_bar

    tame_warnings(verbose=verbose)
    spare_imports()
    operating_limit = parse_operating_limit(max_tpr_at_fpr)
    destination = Destination.open(
        output, inputs=(*(scores or ()), members, holdout, blind), sha256=sha256
    )
    with progress_bar(quiet=quiet) as progress:
        report = api.estimate(
            tuple(scores) if scores else None,
            members=members,
            holdout=holdout,
            score_columns=tuple(score_columns or ()),
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            key_column=key_column,
            nan=nan,
            prior=prior,
            confidence=confidence,
            strict=strict,
            joint=joint,
            method=method,
            discrete=discrete,
            member_side=member_side,
            claimed_epsilon=claimed_epsilon,
            delta=delta,
            adjacency=adjacency,
            max_advantage=max_advantage,
            max_eta=max_eta,
            max_copies=max_copies,
            max_tpr_at_fpr=operating_limit,
            against=against,
            metric=tuple(metric or ()),
            max_metric=tuple(max_metric or ()),
            min_recall=min_recall,
            on_inconclusive=on_inconclusive,
            **listed_policy(context),
            blind=blind,
            blind_against=blind_against,
            blind_bound=blind_bound,
            seed=parse_seed(seed),
            hash_inputs=hash_inputs,
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            on_bad_part=on_bad_part,
            progress=progress,
            settings=settings_of(context),
        )
    _write(report, destination, format=format, quiet=quiet)
    return verdict_exit(report.verdict, exit_zero=exit_zero)


def _write(
    report: Report,
    destination: Destination,
    *,
    format: c.Format,  # noqa: A002
    quiet: bool,
) -> None:
    from mipaudit.output.notes import note
    from mipaudit.output.presentation import encode

    destination.write(encode(report, format, to_file=destination.path is not None))
    if destination.path is not None:
        from mipaudit.commands.estimate.pages.headline import headline

        note(f"{headline(report)} The report is written.", quiet=quiet)
