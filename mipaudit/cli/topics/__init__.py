"""What ``mipaudit help TOPIC`` shows: short texts, a file each, and the pages of the docs.

A wheel holds the pages as ``mipaudit/docs``; a checkout has them beside the package.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

# In the order in which they are listed.
TOPICS: Final = {
    "exit-codes": "what the exit code says, and what to do with it",
    "policy": "your limits, and how they are judged",
    "glossary": "the words of the reports",
    "formats": "what is read, and the forms that are written",
    "environment": "the environment variables that are read",
}
# The docs' shelves, in the order in which they are listed.
SHELVES: Final = {
    "tutorials": "Learn by doing",
    "how-to": "Get something done",
    "explanation": "Understand",
    "reference": "Look something up",
}


def topic_text(topic: str) -> str:
    """Return the text of one of the `TOPICS`."""
    from importlib.resources import files

    return files(__package__).joinpath(f"{topic}.txt").read_text("utf-8")


@cache
def pages() -> dict[str, Path]:
    """Return the pages of the docs by name, shelf by shelf; none where there are no docs."""
    package = Path(__file__).parents[2]
    docs = next((one for one in (package / "docs", package.parent / "docs") if one.is_dir()), None)
    if docs is None:
        return {}
    found = (path for shelf in SHELVES for path in sorted((docs / shelf).glob("*.md")))
    return {path.stem: path for path in found}
