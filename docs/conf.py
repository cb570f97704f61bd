"""The site: these pages as they stand, by the shelves of ``mipaudit help``. `make site` builds it.

Nothing of it is fetched, while it is built or while it is read.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipaudit.cli.help import SHELVES, pages
from mipaudit.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "mipaudit"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
# Links to a heading, as other pages have them.
myst_heading_anchors = 4
# Words stay as they were typed: a dash before an option is two hyphens.
smartquotes = False
html_theme = "furo"
html_title = f"mipaudit {__version__}"
html_copy_source = False
html_use_index = False


def _add_shelves(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put every page into the navigation, under its shelf."""
    if docname != app.config.root_doc:
        return
    docs = Path(app.srcdir)
    for shelf, said in SHELVES.items():
        found = (path for path in pages().values() if path.parent.name == shelf)
        names = [path.relative_to(docs).with_suffix("").as_posix() for path in found]
        listed = "\n".join(names)
        content[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {said}\n\n{listed}\n```\n"


def _begin_at_the_index(app: Sphinx, failed: Exception | None) -> None:
    """Let a folder be opened by its name: servers show index.html."""
    if failed is None and app.builder.name == "html":
        shutil.copy(app.outdir / f"{app.config.root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of both."""
    app.connect("source-read", _add_shelves)
    app.connect("build-finished", _begin_at_the_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
