"""The page on policies: its files are read, its commands end as it says, its keys exist."""

from __future__ import annotations

import re
import shutil
from typing import get_args

import pytest

from mipaudit.errors import UsageError
from mipaudit.options.checked_limits import Limited, check_limits, check_waivers
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "policy-files.md").read_text(encoding="utf-8")
STEPS = re.findall(
    r"<!-- (file|run): (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
COMMANDS = [
    (at, line, int(name))
    for at, (kind, name, text) in enumerate(STEPS)
    if kind == "run"
    for line in text.splitlines()
]


@pytest.mark.parametrize(("at", "line", "status"), COMMANDS)
def test_the_examples_end_as_the_page_says(run_line, tmp_path, at, line, status):
    _, name, text = next(step for step in reversed(STEPS[:at]) if step[0] == "file")
    (tmp_path / name).write_text(text, encoding="utf-8")
    for sample in ("private.parquet", "leaky.parquet"):
        shutil.copy(ROOT / "sample_data" / sample, tmp_path)

    done = run_line(f"{line} --no-config --max-risk 0.99" if "records" in line else line, tmp_path)

    assert done.returncode == status, done.stderr


@pytest.mark.parametrize(
    ("heading", "check"), [("Limits", check_limits), ("Waivers", check_waivers)]
)
def test_the_page_has_every_key(heading, check):
    table = PAGE.partition(f"\n## {heading}\n")[2].partition("| key |")[2].partition("\n\n")[0]
    keys = {key for row in table.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}

    with pytest.raises(UsageError) as caught:
        check([{"zzzzzz": 1}], 0.5)

    assert {*caught.value.hint.removeprefix("Known keys: ").rstrip(".").split(", ")} == keys


def test_the_page_has_every_quantity():
    rows = re.findall(r"^\| `(\w+)` \| `(?:estimate|records)`", PAGE, flags=re.MULTILINE)
    assert sorted(rows) == sorted(get_args(Limited))
