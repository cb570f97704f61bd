"""``mipaudit verify``: a report computed again from its scores and settings, and compared."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from mipaudit.commands.verify.options import VerifyOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.verify.report import VerifyReport


def answer_verify(asked: VerifyOptions) -> VerifyReport:
    """Say whether a report follows from the scores and settings that it names.

    Reports of ``estimate``, ``check``, ``epsilon``, ``records``, ``compare``, ``shift``,
    ``query``, ``bounds`` and of ``noise`` without splits are computed again, with the
    settings that they record; also the verdict of a report that was judged again.

    Raises:
        UsageError: the report is of another command, or the input is missing or superfluous.
        InputError: the report or the input cannot be read.
    """
    from mipaudit.commands.verify.agreement import verification
    from mipaudit.commands.verify.recomputed import recomputed
    from mipaudit.reading.report_file import report_bytes
    from mipaudit.statements.reports.codec import from_json

    data = report_bytes(asked.report)
    found = from_json(data)
    return verification(data, found, recomputed(found, asked), digest=sha256(data).hexdigest())


verify = public(VerifyOptions, answer_verify)
