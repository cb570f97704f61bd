"""The site: these pages as they stand, in the order of ``README.md``. `make site` builds it.

Nothing of it is fetched, while it is built or while it is read.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipaudit.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "mipaudit"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
# The pages that list others.
_INDEXES = {root_doc, "reference/commands"}
# Links to a heading, as other pages have them.
myst_heading_anchors = 4
# Words stay as they were typed: a dash before an option is two hyphens.
smartquotes = False
html_theme = "furo"
html_title = f"mipaudit {__version__}"
html_static_path = ["static"]
html_js_files = ["site.js"]
html_css_files = ["site.css"]
# A footer that only named the builder was empty.
html_show_sphinx = html_show_copyright = False
html_copy_source = False
html_use_index = False


def _add_navigation(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the pages that an index lists into the navigation, in its order and by its headings."""
    if docname not in _INDEXES:
        return
    home = Path(app.srcdir, docname).parent
    seen: set[Path] = set()
    for part in content[0].split("\n## ")[1:]:
        caption = part.partition("\n")[0]
        pages = [Path(one) for one in re.findall(r"\]\(([^)#:]+\.md)", part)]
        new = [one for one in dict.fromkeys(pages) if one not in seen and (home / one).is_file()]
        seen |= {*new}
        if new:
            listed = "\n".join(one.with_suffix("").as_posix() for one in new)
            content[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def _begin_at_the_index(app: Sphinx, failed: Exception | None) -> None:
    """Let a folder be opened by its name: servers show index.html."""
    if failed is None and app.builder.name == "html":
        shutil.copy(app.outdir / f"{app.config.root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of both."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _begin_at_the_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
