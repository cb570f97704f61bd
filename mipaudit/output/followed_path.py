"""The path to which an output's name leads, by no link of somebody else's in a shared folder."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from mipaudit.errors import OutputError
from mipaudit.statements.text.printable_names import safe_name

_SHARED: Final = stat.S_ISVTX | stat.S_IWOTH
# As many as Linux follows.
_MOST_LINKS: Final = 40
_LONGEST_NAME: Final = 200


def followed_path(name: str) -> Path:
    """Return the path that a name leads to, links followed; the file need not be there.

    In a folder where everybody may make files, and nobody may remove those of others, as /tmp,
    somebody may have laid a link there in the hope that we write through it. There only our own
    links count, and those of the folder's owner: the rule of Linux's ``protected_symlinks``,
    which is not in force everywhere, and not where a path is resolved before it is opened.

    Raises:
        OutputError: ``foreign_link``: it leads over another one.
        OSError: links that go round in a ring.
        ValueError: a NUL in the name.
    """
    path = Path(name).absolute()
    found, links = Path(path.anchor), 0
    left = [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        if part == os.pardir:
            found = found.parent
            continue
        try:
            target = (found / part).readlink()
        except OSError:  # no link, or not there
            found /= part
            continue
        # Looked at after it was read: nobody can put back one of ours.
        if not _may_lead(found / part):
            raise OutputError(
                "foreign_link",
                f"The output {safe_name(name, longest=_LONGEST_NAME)} is reached by a link that "
                "another user laid in a folder of everybody.",
                hint="Remove the link, or choose another folder.",
            )
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "")
        if target.is_absolute():
            found = Path(target.anchor)
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return found


def _may_lead(link: Path) -> bool:
    folder = link.parent.stat()
    if folder.st_mode & _SHARED != _SHARED or not hasattr(os, "geteuid"):
        return True
    return link.lstat().st_uid in {os.geteuid(), folder.st_uid}
