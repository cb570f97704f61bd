"""The manual pages: into a wheel while it is built, or into a folder that is named.

Run as ``python docs/manual_pages.py build/man`` from anywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ROOT = Path(__file__).resolve().parents[1]


def write_pages(folder: Path) -> None:
    """Write a page of the program and of each command."""
    there = [str(_ROOT), str(_ROOT / "docs")]
    sys.path[:0] = there  # it is not installed yet
    try:
        from manual_text import manual_pages
    finally:
        del sys.path[: len(there)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in manual_pages():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


class ManualHook(BuildHookInterface[Any]):
    """Adds the pages to a wheel, where ``man`` looks: beside the folder of the program."""

    def dependencies(self) -> list[str]:
        """Return what the declarations of the options need, and no more."""
        needed = self.metadata.core.dependencies
        return [one for one in needed if one.startswith("typer")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the pages and name them; ``hatchling`` says which version is built."""
        del version
        self._pages = TemporaryDirectory()
        write_pages(Path(self._pages.name))
        build_data["shared_data"][self._pages.name] = "share/man/man1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what is in the wheel by now."""
        del version, build_data, artifact_path
        self._pages.cleanup()


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
