"""Writes ``docs/reference/reproductions.md`` and its pictures from a folder of reproductions.

Make the folder first, which takes about ten minutes on one processor, and then the page::

    mipaudit reproduce all --adult FILE -o FOLDER
    python tests/docs/reproductions_page.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from mipaudit.reproductions.run import list_reproductions

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "reference" / "reproductions.md"
PICTURES: Final = ROOT / "docs" / "reference" / "reproductions"
_HEAD: Final = """# The papers' figures, computed anew

What `mipaudit reproduce all` writes. For each figure: what the paper shows and says, what came out
here, where the paper needs correction, and the numbers that must come out (the command's exit code
is 1 where one does not). The pages and pictures below are the program's own; only this head is
written by hand.

- Data are simulated and models are small: minutes, not hours, on one processor. What a figure
  *says* is put to the test, not each of its points. `--seed` fixes every random choice.
- "Any attacker, at least" is the lower confidence limit of `mipaudit estimate` (0.95).
- Epsilon of DP-SGD is by substitution of a record, at delta 1e-5, counted by privacy loss
  distributions; the training loop clips every record's gradient and draws Poisson batches.
- In Python: `mipaudit.reproduce("izzo-fig1")` returns the curves, claims and checks.

What we think is wrong in the papers, in short:

| figure | what is wrong |
|---|---|
| `humphries-fig6` | the cap is 1 - 1/m = 0.95 with m = 20 groups, not 0.90 |
| `mace-fig3`, `mace-fig7` | 100^2 bins give W_N above 0.7 where nothing can be learnt |
| `izzo-fig2` | Corollary 8 draws from another density than its proof is about; it fails |
| `izzo-fig1` | the published MIP noise is hundreds of times what is needed |
| `humphries-fig1` | bound (8) is above (5) at epsilon 0 and delta above 0 |
| `humphries-fig2`, `mace-fig5` | members and holdout differ, with no model at all |
| `mace-fig4` | at prior 0.1, 'nobody is a member' has an advantage of 0.80 |

"""
_WITHOUT: Final = """## `{id}`: {title}

{source}. Needs a file that is not part of this project, and so is not shown:
`mipaudit reproduce {id} {option} FILE -o figures`. The tests run it on simulated records with the
same columns.
"""


def reproductions_page(folder: Path) -> str:
    """Return the page from what the command wrote."""
    rows = list_reproductions()
    links = "".join(f"- [`{name}`](#{anchor(name, title)})\n" for name, title, _ in rows)
    return _HEAD + links + "\n" + "\n".join(_section(folder, *row) for row in rows)


def anchor(name: str, title: str) -> str:
    """Return where a heading is found."""
    plain = re.sub(r"[^a-z0-9 -]", "", f"{name} {title}".lower())
    return plain.replace(" ", "-")


def page_of(text: str) -> str:
    """Return a figure's own page as a section of this one."""
    lines = [line for line in text.splitlines() if not line.startswith("The data of the curves:")]
    section = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"
    return re.sub(r"!\[(.*)\]\((.*)\)", r"![\1](reproductions/\2)", f"#{section}")


def _section(folder: Path, name: str, title: str, source: str) -> str:
    path = folder / f"{name}.md"
    if path.exists():
        return page_of(path.read_text(encoding="utf-8"))
    option = "--compas" if name == "humphries-fig4" else "--adult"
    return _WITHOUT.format(id=name, title=title, source=source, option=option)


def main() -> None:
    """Write the page, and copy the pictures."""
    folder = Path(sys.argv[1])
    PAGE.write_text(reproductions_page(folder), encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, _, _ in list_reproductions():
        if (folder / f"{name}.png").exists():
            shutil.copyfile(folder / f"{name}.png", PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
