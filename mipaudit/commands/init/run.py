"""``mipaudit init``: a commented policy file, which is valid as it is."""

from __future__ import annotations

import os
from typing import Final

from mipaudit.commands.init.options import FOUND, InitOptions, InitShown
from mipaudit.errors import OutputError

_HEAD: Final = """\
# The privacy policy of this release, for mipaudit: {of}.
{used}
# Change what does not fit before you see results. If you change it later, say so, and why.
# Which limits others set, with sources: mipaudit help other-limits
# More keys: mipaudit help policy

# The scores, if they are always in one file: then `mipaudit estimate` needs no arguments.
# scores = "scores.parquet"
"""
_FOUND: Final = (
    "# Every run of mipaudit in this folder, or in a folder below it, judges by this file."
)
_USED: Final = """\
# This file is used only if it is named, since its name is not mipaudit.toml:
#   mipaudit estimate scores.parquet --config {name}"""
_FOOT: Final = """
# An audit fails (exit code 2) if no limit is set, for example after a mistake in this file.
[estimate]
require_policy = true
"""
# What a synthetic table must keep besides, and how another file holds it.
_COPIES: Final = """
# Synthetic records: no member's record may appear in the release unchanged. This needs scores
# made by mipaudit query. If they do not cover every member, the verdict is inconclusive.
max_copies = 0
"""
_MARKED: Final = """
# Synthetic records: no member's record may appear in the release unchanged. This needs scores
# made by mipaudit query: then remove the mark, or use `mipaudit init --policy synthetic`.
# max_copies = 0
"""
_RELEASE: Final = (
    """
# The advantage: how well a score lets somebody guess who was in the data. At even odds, 50 of
# 100 guesses are right by luck. At an advantage of 0.1, at most 55 are.
max_advantage = 0.1

# An inconclusive verdict fails: a release is not an experiment. With too few records no limit
# can be shown to be kept. The report says how many would settle each limit, if any number can.
on_inconclusive = "fail"
""",
    """
# An average hides a few people who are surely exposed. If an attacker wrongly takes 1 in 100
# holdout records for members, at most 5 in 100 members may be found.
[[limit]]
quantity = "tpr_at_fpr"
fpr = 0.01
max = 0.05
""",
)
_LIMITS: Final = {
    "release": _MARKED.join(_RELEASE),
    "synthetic": _COPIES.join(_RELEASE),
    "research": """
# The advantage: how well a score lets somebody guess who was in the data. At even odds, 50 of
# 100 guesses are right by luck. At an advantage of 0.2, at most 60 are.
max_advantage = 0.2

# An inconclusive verdict has exit code 3, and a person decides.
on_inconclusive = "review"
""",
}
_OF: Final = {
    "release": "a release to others",
    "synthetic": "a synthetic table for others",
    "research": "work in progress",
}


def policy_text(policy: str, name: str = FOUND) -> str:
    """Return the policy file.

    Args:
        policy: ``release``, ``synthetic`` or ``research``.
        name: of the file: only one name is used without being named.
    """
    used = _USED.format(name=name) if name != FOUND else _FOUND
    return _HEAD.format(of=_OF[policy], used=used) + _LIMITS[policy] + _FOOT


def run_init(asked: InitOptions, shown: InitShown) -> int:
    """Write the file, and say what to do next; return the exit code.

    Raises:
        OutputError: it exists, or cannot be written.
    """
    from pathlib import PurePath

    from mipaudit.output import exit_code
    from mipaudit.output.destination import Destination
    from mipaudit.output.terminal import note
    from mipaudit.statements.printable_names import safe_name

    name = safe_name(shown.output)
    try:
        # A name with its folder: a dash alone would be standard output.
        place = Destination.open(os.path.join(os.curdir, shown.output))  # noqa: PTH118
        place.write_new(policy_text(asked.policy, PurePath(name).name).encode())
    except FileExistsError:
        raise OutputError(
            "file_exists",
            f"{name} exists, and is not overwritten.",
            "Read it, or choose another name with `output`.",
        ) from None
    config = "" if name == FOUND else f" --config {name}"
    note(
        f"Wrote {name}. Read its limits, then: mipaudit estimate scores.parquet{config}",
        quiet=shown.quiet,
    )
    return exit_code.OK
