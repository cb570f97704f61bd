"""The texts of ``mipaudit help TOPIC``: plain text, one file for each topic."""

from __future__ import annotations

from typing import Final

# In the order in which they are listed.
TOPICS: Final = ("exit-codes", "policy", "glossary", "formats", "environment")


def topic_text(topic: str) -> str:
    """Return the text of one of the `TOPICS`."""
    from importlib.resources import files

    return files(__package__).joinpath(f"{topic}.txt").read_text("utf-8")
