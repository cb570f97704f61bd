"""A folder in which a document's shell steps run, with ``mipaudit`` on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.places import ROOT

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

    def __init__(self, folder, programs, environment):
        """Put the scores and the programs in place."""
        self.folder, self.programs = folder / "work", folder / "bin"
        self.folder.mkdir()
        self.programs.mkdir()
        shutil.copy(ROOT / "sample_data" / "leaky.parquet", self.folder / "scores.parquet")
        shutil.copytree(ROOT / ".ci", self.folder / ".ci")
        shutil.copy(programs / "mipaudit", self.programs)
        for name, text in {"podman": PODMAN, "python3": PYTHON}.items():
            (self.programs / name).write_text(text, encoding="utf-8")
            (self.programs / name).chmod(0o755)
        path = f"{self.programs}{os.pathsep}{environment['PATH']}"
        self.environment = {**environment, "PATH": path, "PYTHONPATH": str(ROOT)}
        del self.environment["MIPAUDIT_FULL"]

    def run(self, script, variables=None, options=()):
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


@pytest.fixture
def shell(tmp_path, programs, environment):
    return Shell(tmp_path, programs, environment)
