"""The policy file: ``mipaudit.toml``, or ``[tool.mipaudit]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN_FILE: Final = "mipaudit.toml"
PROJECT_FILE: Final = "pyproject.toml"
LIMITS: Final = "limit"
WAIVERS: Final = "waiver"
# A project file may be long for other reasons: so much of it is looked through for the table.
_LARGEST: Final = 1 << 24
# More than anybody writes by hand. The parser takes the square of a key's parts in memory.
_LARGEST_POLICY: Final = 1 << 16
_DEEPEST: Final = 8
# Comments and texts, also one without an end, in which no bracket and no point counts. They are
# compiled where a file is read: most commands find none.
_TEXTS: Final = (
    r'''(?s:#[^\n]*|"""(?:\\.?|[^\\])*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|'''
    r""""(?:\\.|[^"\\\n])*"?|'[^'\n]*'?)"""
)
# What names may have within, or around their parts.
_BETWEEN: Final = b" \t\r\n\"'._-"


class ConfigFile(NamedTuple):
    """What a policy file says.

    Attributes:
        name: of the file, as it was given or from the working directory.
        sha256: of the whole file.
        table: the keys of mipaudit, without the limits and waivers.
        limits: the tables of ``[[limit]]``.
        waivers: the tables of ``[[waiver]]``.
        empty: whether it has no key at all.
        found: whether nobody named it, so that it may be anybody's.
        foreign: whether it belongs to another user.
    """

    name: str
    sha256: str
    table: Mapping[str, Any]
    limits: tuple[Mapping[str, Any], ...]
    waivers: tuple[Mapping[str, Any], ...]
    empty: bool
    found: bool
    foreign: bool

    @property
    def shown(self) -> str:
        """Its name, safe to print."""
        return _quoted(self.name)[1:-1]

    @property
    def elsewhere(self) -> bool:
        """Tell whether it is in another folder than the working one."""
        return os.path.dirname(self.name) not in {"", os.curdir}  # noqa: PTH120 - see `_folders`


def find_config() -> ConfigFile | None:
    """Return the file of the working directory or of its nearest parent that has one.

    The search ends at a folder that holds ``.git``, or at the root.

    Raises:
        UsageError: ``config``: it cannot be read, one folder has two, or anybody may have put it
            there.
    """
    for folder in _folders():
        paths = (os.path.join(folder, name) for name in (OWN_FILE, PROJECT_FILE))  # noqa: PTH118
        found = [one for one in map(_candidate, paths) if one is not None]
        if len(found) > 1:
            own, project = found
            raise refused(
                f"Both {own.shown} and [tool.mipaudit] in {project.shown} hold settings.",
                "Keep one of them, or name a file with --config.",
            )
        if found:
            return found[0]
    return None


def _candidate(path: str) -> ConfigFile | None:
    """Return a file that nobody named; None where it is not there, or has no settings of ours."""
    content, name = _content(path, asked=False), _shown(path)
    if content is None:
        return None
    data, foreign, planted = content
    in_project = os.path.basename(path) == PROJECT_FILE  # noqa: PTH119 - see `_folders`
    if in_project and not _could_hold(data):
        return None
    table: Mapping[str, Any] | None = _parsed(name, data)
    if in_project and table is not None:
        table = _tool_table(name, table)
    if table is None:
        return None
    if planted:
        raise refused(
            f"The file {_quoted(name)} is in a folder that everybody may write to, and its owner "
            "is neither you nor the folder's owner.",
            "To use this policy, name it with --config FILE; otherwise use --no-config.",
        )
    return _config(name, data, table, found=True, foreign=foreign)


def refused(message: str, hint: str | None = None) -> UsageError:
    """Return an error about a policy file."""
    return UsageError("config", message, hint=hint)


def _could_hold(data: bytes) -> bool:
    r"""Tell whether a project file could hold the table, also under a name that is nearly ours.

    Only then it is read as TOML: that costs more than many an answer. What is not UTF-8 has null
    bytes, and a key with an escape could be any: both are read, and the first is then refused.
    """
    plain = data.lower().translate(None, _BETWEEN)
    found = (b"toolmipaudit", b"[tool]", b"tool=", b"\0", b"\\u")
    return any(one in plain for one in found)


def read_config(path: str) -> ConfigFile:
    """Return a named file: settings at its top, or under ``[tool.mipaudit]`` if it has that.

    Raises:
        UsageError: ``config``: it is not there, or no such file.
    """
    content = _content(path, asked=True)
    if content is None:
        raise refused(f"There is no file {_quoted(path)}.", "Name another with --config.")
    data, foreign, _ = content
    table = _parsed(path, data)
    inner = _tool_table(path, table)
    in_project = os.path.basename(path) == PROJECT_FILE  # noqa: PTH119 - see `_folders`
    if inner is None and in_project:
        raise refused(f"The file {_quoted(path)} has no [tool.mipaudit].", "Add that table first.")
    if inner is not None and not in_project and set(table) != {"tool"}:
        raise refused(
            f"The file {_quoted(path)} has settings at its top and under [tool.mipaudit].",
            "Keep one of the two: the other would be ignored.",
        )
    table = table if inner is None else inner
    return _config(path, data, table, found=False, foreign=foreign)


def _folders() -> Iterator[str]:
    # os.path throughout: pathlib is not loaded by commands that only compute.
    try:
        folder = os.getcwd()  # noqa: PTH109
    except OSError:  # it was deleted
        return
    while True:
        yield folder
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
            return
        folder = parent


def _content(path: str, *, asked: bool) -> tuple[bytes, bool, bool] | None:
    """Return what a file holds, whether it is another user's, and if anybody could put it there.

    None where there is none.

    A link that leads nowhere is not nothing: the policy would be left out in silence. A file
    that nobody named must be a regular one: reading a pipe could wait for ever. What is looked at
    is what was opened, since the name may be another file's a moment later.
    """
    data, foreign, planted = None, False, False
    try:
        with open(path, "rb", opener=None if asked else _open_at_once) as file:
            found = os.fstat(file.fileno())
            if asked or stat.S_ISREG(found.st_mode):
                data = file.read(_LARGEST + 1)
            if hasattr(os, "geteuid"):
                foreign = found.st_uid != os.geteuid()
                planted = not asked and _is_planted(path, found.st_uid)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.islink(path):  # noqa: PTH114
            return None
    except (OSError, ValueError):  # a null byte in the name is a ValueError
        data = None
    if data is not None and len(data) <= _LARGEST:
        return data, foreign, planted
    raise refused(
        f"The file {_quoted(_shown(path))} cannot be read.",
        "Name another with --config, or use --no-config.",
    )


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _is_planted(path: str, owner: int) -> bool:
    """Tell whether everybody may write where a file is, and it is of none who may be trusted.

    A link there must be theirs, too: it could lead to any file of theirs.
    """
    folder = os.stat(os.path.dirname(path))  # noqa: PTH116, PTH120
    trusted = {os.geteuid(), 0, folder.st_uid}
    return bool(folder.st_mode & stat.S_IWOTH) and not {owner, os.lstat(path).st_uid} <= trusted


def _is_deep(text: str) -> bool:
    """Tell whether a name has more parts, or brackets are deeper, than a policy needs."""
    plain = re.sub(_TEXTS, lambda found: "" if found[0].startswith("#") else "t", text)
    parts = re.split(r"[\n,=\[\]{}]", plain)
    depth, deepest = 0, max(part.count(".") + 1 for part in parts)
    for bracket in re.findall(r"[\[\]{}]", plain):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _parsed(name: str, data: bytes) -> dict[str, Any]:
    if len(data) > _LARGEST_POLICY or _is_deep(data.decode(errors="replace")):
        raise refused(
            f"The file {_quoted(name)} is larger than {_LARGEST_POLICY >> 10} KiB, or nested in "
            f"more than {_DEEPEST} levels.",
            "Keep the policy in a small file of its own.",
        )
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        where = ""
    except (ValueError, RecursionError) as error:  # also an integer of too many digits
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        where = f" ({place[1]})" if place else ""
    raise refused(
        f"The file {_quoted(name)} is not TOML{where}.", "TOML has lines such as: prior = 0.1"
    )


def _tool_table(name: str, table: Mapping[str, Any]) -> dict[str, Any] | None:
    tool = table.get("tool")
    if not isinstance(tool, dict):
        return None
    found = tool.get("mipaudit")
    if found is not None and not isinstance(found, dict):
        raise refused(f"tool.mipaudit in {_quoted(name)} must be a table: [tool.mipaudit].")
    plain = {key: re.sub(r"[\W_]", "", key).lower() for key in tool if key != "mipaudit"}
    near = next((key for key, letters in plain.items() if letters == "mipaudit"), None)
    if near is not None:
        raise refused(
            f"The table 'tool.{near}' in {_quoted(name)} is unknown.",
            "Did you mean 'tool.mipaudit'?",
        )
    return found


def _config(
    name: str, data: bytes, table: Mapping[str, Any], *, found: bool, foreign: bool
) -> ConfigFile:
    from hashlib import sha256

    return ConfigFile(
        name=name,
        sha256=sha256(data).hexdigest(),
        table={key: value for key, value in table.items() if key not in {LIMITS, WAIVERS}},
        limits=_tables(name, table, LIMITS),
        waivers=_tables(name, table, WAIVERS),
        empty=all(one in ({}, []) for one in table.values()),
        found=found,
        foreign=foreign,
    )


def _tables(name: str, table: Mapping[str, Any], key: str) -> tuple[Mapping[str, Any], ...]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise refused(
            f"In {_quoted(name)}, '{key}' must be tables.",
            f"Each starts with a line [[{key}]], or [[tool.mipaudit.{key}]] in {PROJECT_FILE}.",
        )
    return tuple(found)


def _shown(path: str) -> str:
    """Return a path from the working directory: an absolute one may name a person."""
    return os.path.relpath(path) if os.path.isabs(path) else path  # noqa: PTH117


def _quoted(name: str) -> str:
    from mipaudit.statements.printable_names import safe_name

    return f"'{safe_name(name)}'"
