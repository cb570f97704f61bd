"""A folder in which a pipeline's shell steps run, with ``mipaudit`` on the path."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_UNWANTED = {"NO_COLOR", "COLUMNS", "FORCE_COLOR", "SOURCE_DATE_EPOCH"}
# Stands for podman: runs what the container would, and keeps what it was asked.
PODMAN = """#!/bin/sh
printf '%s\\n' "$*" >> podman.log
case $1 in
  build) test -f "$3" ;;
  run)
    while [ "$1" != mipaudit ]; do shift; done
    exec "$@" ;;
esac
"""
# Stands for the job's own Python: makes an environment that only keeps what it was asked.
PYTHON = f"""#!/bin/sh
if [ "$1 $2" = '-m venv' ]; then
  mkdir -p "$3/bin"
  printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@" > "%s/asked"\\n' "$3" > "$3/bin/python"
  chmod +x "$3/bin/python"
else
  exec '{sys.executable}' "$@"
fi
"""


class Shell:
    """Runs scripts as a server does, in a folder with sample scores."""

    def __init__(self, folder, programs):
        """Put the scores and the programs in place; ``mipaudit`` is one of those given."""
        self.folder = folder / "work"
        self.programs = folder / "bin"
        self.folder.mkdir()
        self.programs.mkdir()
        shutil.copy(ROOT / "sample_data" / "leaky.parquet", self.folder / "scores.parquet")
        shutil.copytree(ROOT / ".ci", self.folder / ".ci")
        shutil.copy(programs / "mipaudit", self.programs)
        for name, text in {"podman": PODMAN, "python3": PYTHON}.items():
            install(self.programs / name, text)
        kept = {key: value for key, value in os.environ.items() if key not in _UNWANTED}
        kept = {key: value for key, value in kept.items() if not key.startswith("MIPAUDIT_")}
        path = os.pathsep.join([str(self.programs), kept.get("PATH", "")])
        self.environment = {**kept, "PATH": path, "PYTHONPATH": str(ROOT)}

    def run(self, script, *, variables=None, options=()):
        """Run a script with bash."""
        return self.call(["bash", "--noprofile", "--norc", *options, "-c", script], variables)

    def call(self, command, variables=None):
        """Run a command."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def install(path, text):
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
