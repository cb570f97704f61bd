"""The site: every page is found, by its shelf and by its words, and nothing leads nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser import NO_BROWSER, asked_by, browse
from tests.places import ROOT

pytest.importorskip("sphinx", reason="the site's tools are not installed: make tools")

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*/**/*.md"))


def names_of(pages):
    return {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, as `make site` builds it, with a network that answers nobody."""
    made = tmp_path_factory.mktemp("site")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (recipe,) = re.findall(r"^\t\$\(BIN\)/python (-m sphinx .*)$", makefile, flags=re.MULTILINE)
    assert "--fail-on-warning" in recipe
    nobody = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, *recipe.replace("build/", f"{made}/").split()],
        cwd=ROOT,
        env={**os.environ, **nobody},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return made / "site"


def attributes(text, tags, names):
    """Return the values of attributes of the tags of a page."""
    found = re.findall(rf"<(?:{tags})\b([^>]*)", text)
    return {unescape(one) for tag in found for one in re.findall(rf' (?:{names})="([^"]+)"', tag)}


class Parts:
    """What a page loads by itself, where its links lead, and what can be led to."""

    def __init__(self, text):
        self.loads = attributes(text, "script|img|iframe|link|source", "src|href|srcset")
        self.links, self.names = attributes(text, "a", "href"), attributes(text, r"\w+", "id|name")


@pytest.fixture(scope="module")
def parts(site):
    """What every page of the site holds."""
    return {path: Parts(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def leads_nowhere(start, link, parts):
    """Tell whether a link within the site has no page, or no such place on it."""
    where = urlsplit(link)
    if where.scheme:
        return False
    to = (start.parent / unquote(where.path)).resolve() if where.path else start
    named = to not in parts or not where.fragment or unquote(where.fragment) in parts[to].names
    return not (to.is_file() and named)


def test_no_link_is_broken(site, parts):
    found = [(path, link) for path, page in parts.items() for link in page.links | page.loads]
    broken = [(path.stem, link) for path, link in found if leads_nowhere(path, link, parts)]

    assert len(found) > 40 * len(PAGES)
    assert broken == []
    for link in ("no-such.html", "reference/commands.html#no-such", "#no-such"):
        assert leads_nowhere(site / "index.html", link, parts)


def test_every_page_is_in_the_navigation_in_the_order_of_the_index_and_by_its_title(site):
    shown = (site / "index.html").read_text(encoding="utf-8")
    (tree,) = re.findall(r'<div class="sidebar-tree">(.*?)</div>', shown, flags=re.DOTALL)
    found = dict(re.findall(r'href="([\w/-]+)\.html">(.*?)</a>', tree))
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", index, flags=re.MULTILINE)

    assert set(found) == names_of(PAGES)
    assert re.findall(r'<span class="caption-text">(.*?)</span>', tree) == headings
    top = [name for name in found if not name.startswith("reference/commands/")]
    lists = index.partition("\n## ")[2]
    listed = dict.fromkeys(re.findall(r"\]\(([^)#:]+)\.md", lists))
    assert top == [*listed]
    for page in PAGES:
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        assert re.sub("<.*?>", "", unescape(found[name])) == title


def test_nothing_is_fetched_from_elsewhere(site, parts):
    loaded = {link for page in parts.values() for link in page.loads}
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    loaded |= set(re.findall(r"(?:url\(|@import )[\s\"']*([^\s\"')]+)", styles))

    assert any("searchtools.js" in link for link in loaded)
    assert {link for link in loaded if re.match(r"(?!data:)\w*:?//|\w+:(?!//|\w)", link)} == set()


def test_the_search_knows_every_page(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8").strip()
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text, re.DOTALL)[1])

    assert set(index["docnames"]) == {"README", *names_of(PAGES)}
    assert len(index["terms"]) > 2000


def test_home_says_what_it_is_how_to_install_it_and_shows_an_answer_and_a_picture(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    before = re.sub("</?span.*?>", "", home.partition('id="start"')[0])

    for said in ("Could someone tell", "uv tool install .", "NOT MET", "which-file.html"):
        assert said in before
    assert before.count("<img") == 1


@NO_BROWSER
def test_what_is_typed_has_a_button_to_copy_it_and_output_has_none(site, tmp_path):
    shown = browse(site / "index.html", tmp_path / "profile", "--dump-dom")

    assert shown.count('class="copy"') == 2
    assert 'class="copy"' not in shown.partition("highlight-text")[2].partition("</pre>")[0]


@NO_BROWSER
def test_the_search_finds_without_a_server_and_asks_nobody(site, tmp_path):
    search = site / "search.html"
    profile = tmp_path / "profile"

    shown = browse(search, profile, "--dump-dom", query="?q=inconclusive")

    assert '<a href="how-to/choose-a-limit.html' in shown
    assert asked_by(search, profile, query="?q=inconclusive") == set()
