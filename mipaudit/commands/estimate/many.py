"""``mipaudit.estimate_many``: what ``estimate`` says of each of many audits, in one table."""

from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.commands.estimate.options import JOINT_OPTION
from mipaudit.counting.counts import How, require_information
from mipaudit.counting.scores import count_all, read_input, settle_seed
from mipaudit.data.parts import arrow_table, is_frame
from mipaudit.data.request import read_request
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.judgement.policy_on_scores import deciding_upper
from mipaudit.evidence.scores.evidence import Evidence, learn_together
from mipaudit.evidence.scores.findings import score_findings, size_findings
from mipaudit.evidence.scores.rows import ErrorShare, any_difference
from mipaudit.options.declare import Options, manner, required
from mipaudit.options.game import BY_OPTION, Game
from mipaudit.options.public import public
from mipaudit.options.scores import (
    AGAINST_OPTION,
    ChosenSeed,
    Columns,
    Discreteness,
    Followed,
    Sides,
)
from mipaudit.statements.choices import Against
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.rounding import count_text

if TYPE_CHECKING:
    import pandas as pd

    from mipaudit.data.source import ScoreSource
    from mipaudit.maths.arrays import Bools
    from mipaudit.model.message import Finding

_OF_SEVERAL = frozenset({"product-grid", "learned"})


class _Audits(Options, kw_only=False):
    scores: Any = required(
        manner(
            "An array of shape (audits, rows), or a data frame or an Arrow table of the rows of "
            "all audits, which `by` splits.",
            flag=None,
        )
    )


class _Split(Options):
    member: Any = manner(
        "With an array: who is a member, of shape (rows,) or (audits, rows), bool or 0 and 1.",
        flag=None,
    )
    by: Sequence[str] = BY_OPTION.but(
        "With a frame: each combination of these columns is an audit.", default=()
    )


class _Joint(Options):
    joint: bool = JOINT_OPTION.but(
        "The confidence is for the advantages of all audits together, and for all AUCs together.",
        default=False,
    )
    against: Against | None = AGAINST_OPTION.but(
        "The attackers whose upper limit is shown. Default: any for a score of few values, "
        "otherwise the class with the highest limit."
    )


class EstimateManyOptions(
    _Audits, _Split, Columns, Game, _Joint, Discreteness, Sides, ChosenSeed, Followed
):
    """The scores of many audits, and what is said of all of them."""

    def check(self) -> None:
        """Refuse attackers on several numbers: an audit has one score."""
        super().check()
        if self.against in _OF_SEVERAL:
            raise UsageError(
                "no_such_class",
                f"Attackers '{self.against}' exist only for scores of several numbers.",
                "Name another class in `against`, or leave it out.",
            )


_TABLE: Final = 2


# What `estimate` would be given for one audit: a frame, or members and holdout apart.
_Audit: TypeAlias = tuple[Any, Any, Any]
# All audits, and what names each in the table.
_NamedAudits: TypeAlias = "tuple[list[_Audit], pd.Index]"


def _audits_of(asked: EstimateManyOptions) -> _NamedAudits:
    """Return the audits that are asked for.

    Raises:
        UsageError: ``member``, ``by`` or ``scores`` do not go together.
    """
    frame = _frame(asked.scores)
    if frame is None:
        return _of_array(asked)
    if asked.member is not None:
        raise UsageError(
            "member",
            "A frame has its membership in a column.",
            "Leave member= out, and name the column with `member_col` if it is not found.",
        )
    return _of_frame(frame, asked)


def _frame(scores: Any) -> "pd.DataFrame | None":  # noqa: ANN401 - an array or a frame of any kind
    import pandas as pd

    if isinstance(scores, pd.DataFrame):
        return scores
    if not is_frame(scores):
        return None
    import pyarrow as pa

    # A number that is missing in one audit must not make fractions of the whole numbers of all.
    return arrow_table(scores).to_pandas(
        types_mapper=lambda kind: pd.ArrowDtype(kind) if pa.types.is_integer(kind) else None
    )


def _of_frame(frame: "pd.DataFrame", asked: EstimateManyOptions) -> _NamedAudits:
    by = list(asked.by)
    if not by:
        raise UsageError(
            "by",
            "A frame is split into audits by the values of a column.",
            "Name it with `by`; for one audit use `mipaudit.estimate`.",
        )
    for name in by:
        if name not in frame.columns:
            raise UsageError(
                "by",
                f"There is no column {quoted_name(name)} to split the frame by.",
                "Check how the name is written.",
            )
    try:
        # Columns, not their names: an index may have one of them, too.
        groups = frame.groupby([frame[name] for name in by], dropna=False, observed=True)
        names = groups.size().index
    except (TypeError, ValueError):  # what is said may quote the data
        raise UsageError(
            "by",
            "The frame cannot be split by these columns.",
            "Each must be there once and hold numbers, texts or dates.",
        ) from None
    if not names.size:
        raise UsageError("scores", "The frame has no rows.", "Was it filtered?")
    return [(rows.drop(columns=by), None, None) for _, rows in groups], names


def _of_array(asked: EstimateManyOptions) -> _NamedAudits:
    import numpy as np
    import pandas as pd

    scores = asked.scores
    names = scores if isinstance(scores, (list, tuple)) else [scores]
    if any(isinstance(name, (str, PathLike)) for name in names):
        raise UsageError(
            "scores",
            "The scores are names of files, but estimate_many needs the scores themselves.",
            "Read them into one frame: pandas.concat({file: pandas.read_csv(file) for file in "
            'files}, names=["file"]).reset_index("file"), and give by="file".',
        )
    if asked.by:
        raise UsageError(
            "by", "An array has no columns to split it by.", "Leave `by` out, or give a frame."
        )
    if not isinstance(scores, np.ma.MaskedArray):  # whose masks say what is missing
        try:
            scores = np.asarray(scores)
        except ValueError:  # rows of unlike number
            scores = np.empty(len(scores))
    if scores.ndim != _TABLE or not scores.size:
        raise UsageError(
            "scores",
            f"The scores must be an array of shape (audits, rows), not {scores.shape}.",
            "One audit is scores[None, :]; audits of different lengths go into a frame with `by`.",
        )
    member = _member(asked.member, scores.shape)
    pairs = zip(scores, member, strict=True)
    each = [(None, row[inside], row[~inside]) for row, inside in pairs]
    return each, pd.RangeIndex(len(scores), name="audit")


def _member(given: Any, shape: tuple[int, ...]) -> "Bools":  # noqa: ANN401 - as above
    """Return who is a member, of the shape of the scores."""
    import numpy as np

    if given is None:
        raise UsageError(
            "member",
            "No membership is given.",
            "Give member=, an array of shape (rows,) or (audits, rows).",
        )
    member = np.asarray(given)
    if member.shape not in {shape, shape[1:]}:
        raise UsageError(
            "member",
            f"member= has the shape {member.shape}, and the scores have {shape}.",
            f"Its shape must be {shape[1:]} or {shape}.",
        )
    if np.ma.is_masked(given) or not (member.dtype == bool or np.isin(member, (0, 1)).all()):
        raise UsageError(
            "member",
            "member= must be bool, or hold 0 and 1 alone.",
            "Compare labels first: member = labels == 'train'.",
        )
    return np.broadcast_to(member.astype(bool), shape)


# Audits whose counts are in memory at once.
_AT_ONCE: Final = 32
Row: TypeAlias = dict[str, Any]


# The evidence of one audit, and what the reader must know of it.
_Counted: TypeAlias = "tuple[Evidence, Sequence[Finding]]"


def answer_estimate_many(asked: EstimateManyOptions) -> "pd.DataFrame":
    """Return what `estimate` says of each of many audits of one score, a row for each.

    Each row has the numbers of `estimate` on that audit alone with the same settings; with
    ``joint``, the error is divided by the number of audits.

    Columns: ``members`` and ``holdout`` (rows), ``advantage`` (best estimate), ``at_least`` (for
        any attacker), ``at_most`` (for the attackers in ``against``), ``auc``, ``auc_at_least``,
        ``auc_at_most``, ``p_any_difference`` (exact, of that audit alone, never shared), ``seed``
        (in use) and ``findings`` (codes of what `estimate` would say of the input). NaN means that
        there is no such number. Rows are in the order of the array, or of the values of ``by``,
        which name them; ``attrs["seed"]`` is the seed that was stated or drawn, if any.

    Raises:
        UsageError: an argument is wrong.
        InputError: an audit cannot be made from its rows; the error names the audit.
    """
    import pandas as pd

    audits, names = _audits_of(asked)
    share = ErrorShare(confidence=asked.confidence, columns=len(audits) if asked.joint else 1)
    rows: list[Row] = []
    # The rows are in memory: threads would wait for each other.
    with Workers(Engine(name="threads", jobs=1)) as workers:
        counted = _counted(audits, asked, workers)
        while some := list(islice(counted, _AT_ONCE)):
            learn_together([evidence for evidence, _ in some])
            rows += [_row(*one, share, asked) for one in some]
            if asked.progress is not None:
                asked.progress(len(rows), len(audits))
    found = pd.DataFrame(rows, index=names)
    found.attrs["seed"] = asked.chosen_seed.number
    return found


def _counted(
    audits: Sequence[_Audit], asked: EstimateManyOptions, workers: Workers
) -> Iterator[_Counted]:
    """Read and count one audit after the other.

    Raises:
        MipauditError: with the place of the audit that is wrong.
    """
    for at, audit in enumerate(audits):
        try:
            yield _count(audit, asked, workers)
        except (InputError, UsageError) as error:
            where = f"Audit {count_text(at)} of {count_text(len(audits))}, counted from 0 in the "
            where += f"order of the table: {error.message}"
            raise error.worded(where, error.hint) from None


def _count(audit: _Audit, asked: EstimateManyOptions, workers: Workers) -> _Counted:
    """Read one audit as `estimate` does."""

    def run(source: "ScoreSource") -> _Counted:
        """Count the one score of an audit."""
        if len(source.columns) != 1:
            raise UsageError(
                "several_scores",
                f"Each audit takes one score, but there are {len(source.columns)}.",
                "Choose one with `score_col`.",
            )
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=False)
        how = How(prior=asked.prior, discrete=asked.discrete)
        counts = count_all(source, how, seed=seed, workers=workers)
        require_information(counts)
        (column,) = source.columns
        evidence = Evidence(
            score=column.name,
            counts=counts.columns[0],
            prior=asked.prior,
            member_side=asked.side,
            seed=counts.seeds[0],
            ordered=column.kind != "string",
        )
        if asked.against not in {None, "any", *evidence.classes}:
            raise UsageError(
                "no_order",
                f"Attackers '{asked.against}' cannot be used on labels, which have no order.",
                "Use `against` any, or name another `score_col`.",
            )
        name = safe_name(column.name)
        infinite, sentinels = source.infinite([column.name]), source.sentinels(column.name)
        return evidence, (
            *source.told,
            *source.findings(),
            *size_findings(counts.n_members, counts.n_holdout),
            *score_findings(name, evidence.counts, infinite, sentinels),
        )

    request = read_request(asked, seed=asked.chosen_seed)
    return read_input(audit, request, workers, run)


def _row(
    evidence: Evidence, findings: "Sequence[Finding]", share: ErrorShare, asked: EstimateManyOptions
) -> Row:
    """Return what is said of one audit."""
    error, everyone = share.one_sided, evidence.counts.everyone
    against, at_most = deciding_upper(evidence, evidence.upper, asked.against, error)
    auc = evidence.auc(error) if evidence.ordered else None
    of_auc = (None,) * 3 if auc is None else (auc.value, auc.lower, auc.upper)
    return {
        "members": everyone.n_members,
        "holdout": everyone.n_holdout,
        "advantage": evidence.held_out.value,
        "at_least": evidence.lower(error),
        "at_most": _number(at_most),
        "against": against,
        **dict(zip(("auc", "auc_at_least", "auc_at_most"), map(_number, of_auc), strict=True)),
        "p_any_difference": _number(any_difference(evidence, share.confidence).value),
        "seed": f"{evidence.seed:016x}",
        "findings": ", ".join(dict.fromkeys(one.code for one in findings)),
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


estimate_many = public(EstimateManyOptions, answer_estimate_many)
