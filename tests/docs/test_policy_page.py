"""The page on policies: its files are read, its commands end as it says, its keys exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import get_args

import pytest

from mipaudit.errors import UsageError
from mipaudit.options.checked_limits import Limited, check_limits, check_waivers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "policy-files.md").read_text(encoding="utf-8")
STEP = re.compile(
    r"<!-- (?P<kind>file|run): (?P<name>\S+) -->\n```\w+\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
STEPS = [(match["kind"], match["name"], match["text"]) for match in STEP.finditer(PAGE)]
COMMANDS = [
    (at, line, int(name))
    for at, (kind, name, text) in enumerate(STEPS)
    if kind == "run"
    for line in text.splitlines()
]


@pytest.mark.parametrize(("at", "line", "status"), COMMANDS)
def test_the_examples_end_as_the_page_says(run_line, tmp_path, at, line, status):
    file = max(before for before in range(at) if STEPS[before][0] == "file")
    (tmp_path / STEPS[file][1]).write_text(STEPS[file][2], encoding="utf-8")
    for name in ("private.parquet", "leaky.parquet"):
        shutil.copy(ROOT / "sample_data" / name, tmp_path)
    words = line if "records" not in line else f"{line} --no-config --max-risk 0.99"
    done = run_line(words, tmp_path)
    assert done.returncode == status, done.stderr


def _keys(heading):
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = section.partition("| key |")[2].partition("\n\n")[0]
    return {key for row in table.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}


@pytest.mark.parametrize(
    ("heading", "check"), [("Limits", check_limits), ("Waivers", check_waivers)]
)
def test_the_page_has_every_key(heading, check):
    with pytest.raises(UsageError) as caught:
        check([{"zzzzzz": 1}], 0.5)
    assert set(caught.value.hint.removeprefix("Known keys: ").rstrip(".").split(", ")) == _keys(
        heading
    )


def test_the_page_has_every_quantity():
    rows = re.findall(r"^\| `(\w+)` \| `(?:estimate|records)`", PAGE, flags=re.MULTILINE)
    assert sorted(rows) == sorted(get_args(Limited))


def test_keys_are_checked_as_the_page_says():
    with pytest.raises(UsageError):
        check_limits([{"quantity": "advantage", "maxx": 1}], 0.5)
