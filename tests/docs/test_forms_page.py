"""The page on forms: what it has in a shell runs, a signature holds, and its table is whole."""

from __future__ import annotations

import re
import shutil
import tempfile

import pytest

from mipaudit.commands.render.forms import EXCHANGE
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "forms.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
KEY = "gpg --batch --quiet --passphrase '' --quick-generate-key signer ed25519 sign never"


@pytest.fixture(autouse=True)
def _model(shell):
    (shell.folder / "model.bin").write_bytes(b"a model")


def test_every_form_is_in_the_table_and_its_command_runs(shell):
    rows = re.findall(r"^\| [^|]+ \| `(mipaudit render [^`]+)` \|", PAGE, flags=re.MULTILINE)
    made = shell.run("mipaudit estimate scores.parquet --max-advantage 0.9 -o report.json -q")
    assert made.returncode == 0, made.stderr

    for row in rows:
        done = shell.run(row)
        assert done.returncode == 0, (row, done.stderr)
        if " -o " in row:
            written = row.partition(" -o ")[2]
        assert (shell.folder / written).stat().st_size > 0 if written else done.stdout

    again = shell.run(f"set -e\n{SHELL[0]}")
    assert again.returncode == 0, again.stderr
    (shell.folder / "card.md").write_text("edited")
    assert shell.run(f"set -e\n{SHELL[0]}").returncode == 1

    said = {one.name for one in EXCHANGE if f"-f {one.name} " in PAGE or one.ending in PAGE}
    assert said == {one.name for one in EXCHANGE}
    assert len(rows) == len(EXCHANGE) + 2  # the annex, and JUnit


def test_a_signed_statement_holds_until_it_is_edited(shell):
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed")
    # The name of a socket must be short.
    home = tempfile.mkdtemp(prefix="gpg")
    keys = {"GNUPGHOME": home}
    _, sign, check = SHELL
    try:
        signed = shell.run(f"set -e\n{KEY}\n{sign}", variables=keys)
        assert signed.returncode == 0, signed.stderr
        done = shell.run(f"set -e\n{check}", variables=keys)
        assert done.returncode == 0, done.stderr
        assert "Good signature" in done.stderr
        assert "The statement AGREES with the files given: it says PASSED." in done.stdout

        path = shell.folder / "model.intoto.json"
        path.write_text(path.read_text().replace("PASSED", "FAILED"))
        assert "BAD signature" in shell.run(check.splitlines()[0], variables=keys).stderr
        assert shell.run(check.splitlines()[1]).returncode == 1
    finally:
        shell.run("gpgconf --kill all", variables=keys)
        shutil.rmtree(home)
