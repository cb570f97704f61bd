"""``mipaudit verify``: a report computed again from its scores and settings, and compared."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from mipaudit.reading.report_file import report_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.verify.report import VerifyReport


def verify(  # noqa: PLR0913 - one keyword for each file
    report: Any,  # noqa: ANN401 - a path, bytes, or a report
    *,
    input: Any = (),  # noqa: A002, ANN401 - a path, a frame, an Arrow table, or several
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    claimed_curve: Any = None,  # noqa: ANN401 - a path
    synthetic: Any = None,  # noqa: ANN401 - a path or a frame
    reference: Any = None,  # noqa: ANN401
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> VerifyReport:
    """Say whether a report follows from the scores and settings that it names.

    Reports of ``estimate``, ``check``, ``epsilon``, ``records``, ``compare``, ``shift``,
    ``query``, ``bounds`` and of ``noise`` without splits are computed again, with the
    settings that they record; also the verdict of a report that was judged again.

    Args:
        report: a path, ``"-"``, the bytes of a JSON report, or what a command returned.
        input: what was audited, as the command took it; several for ``compare``.
        members: the members' own file, with ``holdout``, if the audit had two.
        holdout: the holdout's own.
        claimed_curve: the file of a claimed ROC, if there was one.
        synthetic: the released records of a report of ``query``, beside members and holdout.
        reference: its reference records, if there were any.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all or None).

    Raises:
        UsageError: the report is of another command, or the input is missing or superfluous.
        InputError: the report or the input cannot be read.
    """
    from mipaudit.commands.verify.agreement import verification
    from mipaudit.commands.verify.recomputed import Scores, recomputed
    from mipaudit.statements.reports.codec import from_json

    data = report_bytes(report)
    found = from_json(data)
    scores = Scores(
        inputs=_several(input),
        members=members,
        holdout=holdout,
        claimed_curve=claimed_curve,
        synthetic=synthetic,
        reference=reference,
    )
    again = recomputed(found, scores, jobs=jobs, progress=progress)
    return verification(data, found, again, digest=sha256(data).hexdigest())


def _several(given: Any) -> Sequence[Any]:  # noqa: ANN401
    """Return the inputs; one alone is one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)
