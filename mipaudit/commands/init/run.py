"""``mipaudit init``: a commented policy file, which is valid as it is."""

from __future__ import annotations

import os
from typing import Final

from mipaudit.commands.init.options import FOUND, InitOptions, InitShown
from mipaudit.errors import OutputError

_HEAD: Final = """\
# The privacy policy of this release, for mipaudit: {of}.
{used}
# Change what does not fit before you look at figures; afterwards, say so and why.
# What other bodies use, with sources: mipaudit help choose-a-limit
# More keys: mipaudit help policy

# The scores, if they are always in one file: then `mipaudit estimate` needs no more words.
# scores = "scores.parquet"
"""
_FOUND: Final = "# Every run of mipaudit in this folder, or in one below it, judges by it."
_USED: Final = """\
# It is used where it is named, since its name is not mipaudit.toml:
#   mipaudit estimate scores.parquet --config {name}"""
_FOOT: Final = """
# An audit fails (exit code 2) where no limit is left in force, as after a slip of the pen here.
[estimate]
require_policy = true
"""
# What a synthetic table must keep besides, and how another file holds it.
_COPIES: Final = """
# Synthetic records: nobody's record may be released word for word. It needs scores that
# mipaudit query made: what does not tell of every member shows nothing, and fails.
max_copies = 0
"""
_MARKED: Final = """
# Synthetic records: nobody's record may be released word for word. It needs scores that
# mipaudit query made: take the mark away then. `mipaudit init --policy synthetic` does.
# max_copies = 0
"""
_RELEASE: Final = (
    """
# Advantage: whoever sees a score guesses who was in the data. Of 100 guesses on even odds, 50
# are right by luck, and at 0.1 at most 55: a guess stays a guess.
max_advantage = 0.1

# What is neither shown to be kept nor to be broken fails: a release is not an experiment. With
# too few records nothing can be shown; the report says how many would settle each limit, if any.
on_inconclusive = "fail"
""",
    """
# Few who are surely exposed hide in an average: where 1 of 100 who were not in the data is taken
# for a member, at most 5 of 100 members may be found.
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
# Advantage: whoever sees a score guesses who was in the data. Of 100 guesses on even odds, 50
# are right by luck, and at 0.2 at most 60. Enough to find what leaks before it matters.
max_advantage = 0.2

# What is neither shown to be kept nor to be broken is told (exit code 3), and a person decides.
on_inconclusive = "review"
""",
}
_OF: Final = {
    "release": "what leaves the house",
    "synthetic": "a synthetic table that leaves the house",
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
            f"{name} exists, and is not written over.",
            hint="Read it, or choose another name with `output`.",
        ) from None
    config = "" if name == FOUND else f" --config {name}"
    note(
        f"Wrote {name}. Read its limits, then: mipaudit estimate scores.parquet{config}",
        quiet=shown.quiet,
    )
    return exit_code.OK
