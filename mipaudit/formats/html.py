"""A document as one HTML file, without scripts or anything from outside."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from mipaudit.formats.wording import plain

if TYPE_CHECKING:
    from jinja2 import Template

    from mipaudit.formats.document import Document

_TEMPLATE: Final = "document.html.j2"


def document_html(document: Document) -> str:
    """Return the document as a page that can be mailed, printed and archived.

    Every text is escaped by the template engine; pictures are drawings by our own
    plotting, whose texts it has escaped.
    """
    return _template().render(document=document)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = plain
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.from_string(files(__package__).joinpath(_TEMPLATE).read_text("utf-8"))
