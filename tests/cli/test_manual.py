"""The manual pages: all that a command's help says, and nothing that ``man`` takes amiss."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import typer

from docs.manual_text import described, manual_pages
from mipaudit.cli.program import COMMANDS, declared_command
from mipaudit.options.commands import BY_NAME

PAGES = dict(manual_pages())
GROFF = shutil.which("groff")
SIGNS = {r"\(rs": "\\", r"\-": "-", r"\(aq": "'", r"\(ga": "`", r"\(ha": "^", r"\(ti": "~"}
SIGN = re.compile(r"\\\(\w\w|\\-")
NO_GROFF = pytest.mark.skipif(GROFF is None, reason="groff is not installed")


def plain(page):
    """Return the words of a page, one space apart, without what is written for ``man``."""
    lines = [line for line in page.splitlines() if line not in {".PP", ".TP", ".RE", ".RS 4"}]
    text = re.sub(r"\\f[BIR]|\\&|^\.S[HS] ", "", " \n".join(lines), flags=re.MULTILINE)
    return " ".join(SIGN.sub(lambda sign: SIGNS[sign[0]], text).split())


def page_of(command):
    return PAGES[f"mipaudit-{command.replace(' ', '-')}"]


def drawn(page):
    """Return what ``man`` shows, wide enough for every line, and what it complains of."""
    done = subprocess.run(
        [GROFF, "-man", "-Tascii", "-P-cbou", "-rLL=4000n", "-ww", "-b"],
        input=page,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr


def test_the_program_and_every_command_have_a_page():
    assert [*PAGES] == ["mipaudit", *(f"mipaudit-{one.replace(' ', '-')}" for one in COMMANDS)]
    for name in PAGES.keys() - {"mipaudit"}:
        assert f"{name}(1)" in plain(PAGES["mipaudit"])
        assert plain(PAGES[name]).count("mipaudit(1)") == 1


@pytest.mark.parametrize("name", PAGES)
def test_no_heading_is_followed_by_a_second_beginning_of_its_paragraph(name):
    lines = PAGES[name].splitlines()
    headings = [at for at, line in enumerate(lines) if line.startswith((".SH ", ".SS "))]
    assert len(headings) > 4
    assert [lines[at] for at in headings if lines[at + 1] == ".PP"] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_every_option_and_every_word_of_the_help(command, mipaudit):
    found = declared_command(BY_NAME[command])
    context = typer.Context(found, info_name=command)
    shown = plain(page_of(command))
    for typed, said in filter(None, (one.get_help_record(context) for one in found.params)):
        assert " ".join(f"{typed} {said}".split()) in shown
    # Help breaks lines after hyphens.
    said = re.sub(r"(?<=\w)-\n +", "-", mipaudit(command, "--help").stdout).replace("Usage:", "")
    words = set(shown.replace(":", "").lower().split())
    assert set(said.replace(":", "").lower().split()) - words == set()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_its_parts_in_order(name):
    page = PAGES[name]
    heads = re.findall(r"^\.SH (.*)$", page, flags=re.MULTILINE)

    assert heads[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    assert heads[-2:] == ["OPTIONS", "SEE ALSO"]
    assert len(heads) == len(set(heads))
    assert page.isascii()
    asked = set(re.findall(r"^[.'](\S+)", page, flags=re.MULTILINE))
    assert asked <= {"TH", "nh", "ad", "SH", "SS", "PP", "TP", "RS", "RE"}
    assert plain(page).startswith(f'.TH {name.upper()} 1 "" "mipaudit ')


def test_what_man_would_take_for_its_own_is_spelled():
    said = ".5 of `a`, 'b' \\n ~ ^\n\n\b\n.TH is no command:\n  --seed 1   one's own\n"

    assert described(said) == (
        ".PP\n\\&.5 of \\(gaa\\(ga, \\(aqb\\(aq \\(rsn \\(ti \\(ha\n"
        ".PP\n\\&.TH is no command:\n"
        ".TP\n\\fB\\-\\-seed 1\\fR\none\\(aqs own\n"
    )


@NO_GROFF
def test_groff_draws_every_page_without_a_complaint():
    for name, page in PAGES.items():
        shown, complaints = drawn(page)
        assert complaints == "", name
        assert " ".join(shown.split()).startswith(f"{name.upper()}(1) mipaudit manual")
    shown, complaints = drawn(PAGES["mipaudit-noise"] + ".nosuch\n")
    assert "warning" in complaints
    assert all(one.opts[-1] in shown for one in declared_command(BY_NAME["noise"]).params)


def test_a_command_of_two_words_is_called_as_it_is_typed():
    called = ".SH SYNOPSIS\n\\fBmipaudit query losses\\fR "
    assert called in page_of("query losses")
