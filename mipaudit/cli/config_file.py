"""The policy file: ``mipaudit.toml``, or ``[tool.mipaudit]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN_FILE: Final = "mipaudit.toml"
PROJECT_FILE: Final = "pyproject.toml"
LIMITS: Final = "limit"
WAIVERS: Final = "waiver"
# A project file is read as TOML only if it could hold the table: reading costs more than
# many an answer.
_COULD_HOLD: Final = re.compile(
    rb"tool\W{1,8}mipaudit|^\s*\[\s*[\"']?tool[\"']?\s*\]|^\s*[\"']?tool[\"']?\s*=", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
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
        project_data = _content(project)
        in_project = None
        if project_data is not None and _COULD_HOLD.search(project_data):
            in_project = _tool_table(_shown(project), _parsed(_shown(project), project_data))
        data = _content(own)
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


def read_config(path: str) -> ConfigFile:
    """Return a named file: settings at its top, or under ``[tool.mipaudit]`` if it has that.

    Raises:
        UsageError: ``config``: it is not there, or no such file.
    """
    data = _content(path)
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


def _content(path: str) -> bytes | None:
    """Return what a file holds, None where there is none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):  # a null byte in the name is a ValueError
        raise UsageError(
            "config",
            f"The file {_quoted(_shown(path))} cannot be read.",
            hint="Name another with --config, or use --no-config.",
        ) from None


def _parsed(name: str, data: bytes) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        where = ""
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        where = f" ({place[1]})" if place else ""
    raise UsageError(
        "config",
        f"The file {_quoted(name)} is not TOML{where}.",
        hint="TOML has lines such as: prior = 0.1",
    )


def _tool_table(name: str, table: Mapping[str, Any]) -> dict[str, Any] | None:
    tool = table.get("tool")
    found = tool.get("mipaudit") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise UsageError("config", f"tool.mipaudit in {_quoted(name)} is not a table.")
    return found


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
    from mipaudit.report.names import safe_name

    return f"'{safe_name(name)}'"
