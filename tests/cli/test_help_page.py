"""Commands and options stand under headings, each once, what matters first."""

from __future__ import annotations

import re

import pytest

from mipaudit.cli.program import declared_command
from mipaudit.options.commands import BY_NAME, TABLE

HEADINGS = re.compile(r"^(\S.*):$", re.MULTILINE)


def test_every_command_is_one_line_under_what_it_is_for(mipaudit):
    text = mipaudit("--help", env={"COLUMNS": "80"}).stdout

    assert HEADINGS.findall(text) == [*dict.fromkeys(row.group for row in TABLE), "Options"]
    for row in TABLE:
        assert re.search(rf"^  {row.name} +{re.escape(row.summary)}$", text, re.MULTILINE)
    assert len(text.splitlines()) < 60


def test_the_ten_options_that_matter_come_first(mipaudit):
    text = mipaudit("estimate", "--help").stdout
    headings = HEADINGS.findall(text)
    first = text.split("Options:")[1].split("\n\n")[0]

    assert headings[:3] == ["Arguments", "Options", "Input"]
    assert {"Statistics", "Claim", "Policy", "Work", "Output"} <= set(headings)
    assert re.findall(r"^  (?:-\w, )?(--[a-z-]+)", first, re.MULTILINE) == [
        *("--members", "--holdout", "--score-col", "--member-col", "--unit-col"),
        *("--max-advantage", "--full", "--format", "--output", "--help"),
    ]


@pytest.mark.parametrize("name", ["estimate", "bounds", "query", "records", "noise", "epsilon"])
def test_no_option_is_lost_or_told_twice(mipaudit, name):
    text = mipaudit(name, "--help").stdout.partition("Options:")[2]
    wanted = {
        flag
        for one in declared_command(BY_NAME[name]).params
        for flag in one.opts
        if flag.startswith("--")
    }
    told = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)(?:[, ]+(--[a-z-]+))?", text, re.MULTILINE)

    assert wanted <= {flag for flags in told for flag in flags}
    assert len({first for first, _ in told}) == len(told)
    assert len(set(HEADINGS.findall(text))) == len(HEADINGS.findall(text))
