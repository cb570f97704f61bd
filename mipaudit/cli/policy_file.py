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
# Far more than anybody writes by hand.
_LARGEST: Final = 1 << 24
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
    """

    name: str
    sha256: str
    table: Mapping[str, Any]
    limits: tuple[Mapping[str, Any], ...]
    waivers: tuple[Mapping[str, Any], ...]


def find_config() -> ConfigFile | None:
    """Return the file of the working directory or of its nearest parent that has one.

    The search ends at a folder that holds ``.git``, or at the root.

    Raises:
        UsageError: ``config``: it cannot be read, or one folder has two.
    """
    for folder in _folders():
        own, project = os.path.join(folder, OWN_FILE), os.path.join(folder, PROJECT_FILE)  # noqa: PTH118
        project_data = _content(project, asked=False)
        in_project = None
        if project_data is not None and _could_hold(project_data):
            in_project = _tool_table(_shown(project), _parsed(_shown(project), project_data))
        data = _content(own, asked=False)
        if data is not None and in_project is not None:
            raise UsageError(
                "config",
                f"Both {_shown(own)} and [tool.mipaudit] in {_shown(project)} hold settings.",
                hint="Keep one of them, or name a file with --config.",
            )
        if data is not None:
            return _config(_shown(own), data, _parsed(_shown(own), data))
        if in_project is not None and project_data is not None:
            return _config(_shown(project), project_data, in_project)
    return None


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
    data = _content(path, asked=True)
    if data is None:
        raise UsageError("config", f"There is no file {_quoted(path)}.", hint="See --config.")
    table = _parsed(path, data)
    inner = _tool_table(path, table)
    if inner is None and os.path.basename(path) == PROJECT_FILE:  # noqa: PTH119 - see above
        raise UsageError(
            "config", f"The file {_quoted(path)} has no [tool.mipaudit].", hint="See --config."
        )
    if inner is not None and os.path.basename(path) != PROJECT_FILE and set(table) != {"tool"}:  # noqa: PTH119
        raise UsageError(
            "config",
            f"The file {_quoted(path)} has settings at its top and under [tool.mipaudit].",
            hint="Keep one of the two: the other would be passed over.",
        )
    return _config(path, data, table if inner is None else inner)


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


def _content(path: str, *, asked: bool) -> bytes | None:
    """Return what a file holds, None where there is none.

    A link that leads nowhere is not nothing: the policy would be left out in silence. A file
    that nobody named must be a regular one: reading a pipe could wait for ever.
    """
    data = None
    try:
        if asked or stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.islink(path):  # noqa: PTH114
            return None
    except (OSError, ValueError):  # a null byte in the name is a ValueError
        data = None
    if data is not None and len(data) <= _LARGEST:
        return data
    raise UsageError(
        "config",
        f"The file {_quoted(_shown(path))} cannot be read.",
        hint="Name another with --config, or use --no-config.",
    )


def _parsed(name: str, data: bytes) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        where = ""
    except (ValueError, RecursionError) as error:  # also an integer of too many digits
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        where = f" ({place[1]})" if place else ""
    raise UsageError(
        "config",
        f"The file {_quoted(name)} is not TOML{where}.",
        hint="TOML has lines such as: prior = 0.1",
    )


def _tool_table(name: str, table: Mapping[str, Any]) -> dict[str, Any] | None:
    tool = table.get("tool")
    if not isinstance(tool, dict):
        return None
    found = tool.get("mipaudit")
    if found is not None and not isinstance(found, dict):
        raise UsageError("config", f"tool.mipaudit in {_quoted(name)} is not a table.")
    near = next((key for key in tool if key != "mipaudit" and _plain(key) == "mipaudit"), None)
    if near is not None:
        raise UsageError(
            "config",
            f"The table 'tool.{near}' in {_quoted(name)} is unknown.",
            hint="Did you mean 'tool.mipaudit'?",
        )
    return found


def _plain(key: str) -> str:
    return re.sub(r"[\W_]", "", key).lower()


def _config(name: str, data: bytes, table: Mapping[str, Any]) -> ConfigFile:
    from hashlib import sha256

    return ConfigFile(
        name=name,
        sha256=sha256(data).hexdigest(),
        table={key: value for key, value in table.items() if key not in {LIMITS, WAIVERS}},
        limits=_tables(name, table, LIMITS),
        waivers=_tables(name, table, WAIVERS),
    )


def _tables(name: str, table: Mapping[str, Any], key: str) -> tuple[Mapping[str, Any], ...]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UsageError(
            "config",
            f"In {_quoted(name)}, '{key}' must be tables.",
            hint=f"Each starts with a line [[{key}]], or [[tool.mipaudit.{key}]] in "
            f"{PROJECT_FILE}.",
        )
    return tuple(found)


def _shown(path: str) -> str:
    """Return a path from the working directory: an absolute one may name a person."""
    return os.path.relpath(path) if os.path.isabs(path) else path  # noqa: PTH117


def _quoted(name: str) -> str:
    from mipaudit.statements.text.printable_names import safe_name

    return f"'{safe_name(name)}'"
