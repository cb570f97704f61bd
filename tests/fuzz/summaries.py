"""Cuts and counts of sites with a sound outside: the checksums are right, what is said may not."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.data.summary_file import Manifest, array_bytes, pack
from tests.fuzz.bases import base_files
from tests.fuzz.runs import Case
from tests.fuzz.typed_json import changed, shape_of

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

_BLOCKS: Final = 64
_ODD: Final = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 5e-324, 0.7391452)
_TYPES: Final = ("u1", "u2", "u4", "u8", "i8", "f4", "f8", "?")


@cache
def _parts(name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of itself, and its arrays."""
    with zipfile.ZipFile(io.BytesIO(base_files()[name])) as archive:
        said = json.loads(archive.read("summary.json"))
        arrays = {
            one.removesuffix(".npy"): np.load(io.BytesIO(archive.read(one)))
            for one in archive.namelist()
            if one.endswith(".npy")
        }
    return said, arrays


def _packed(said: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    sums = {name: sha256(array_bytes(one)).hexdigest() for name, one in arrays.items()}
    return pack(json.dumps({**said, "arrays": sums}).encode("utf-8", "replace"), arrays)


def _made_counts(draw: random.Random) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return counts that agree with each other, of cells of any number."""
    numbers = np.random.default_rng(draw.getrandbits(32))
    said = json.loads(json.dumps(_parts("a.summary")[0]))
    cells, steps = draw.choice((1, 2, 5, 40)), draw.choice((1, 2, 9))
    most = draw.choice((1, 2, 5, 100, 2**33))
    blocks = numbers.integers(0, most + 1, (_BLOCKS, cells, 2), dtype=np.uint64)
    blocks *= numbers.random(blocks.shape) < draw.choice((0.02, 0.5, 1))
    if draw.random() < 0.1:
        blocks[..., draw.randrange(2)] = 0
    burn_in = said["burn_in"] = draw.choice((7, 13, 20, 20, 43))
    whole = [part.sum(axis=(0, 1)) for part in (blocks[burn_in:], blocks[:burn_in])]
    totals = np.concatenate(whole)
    rows = [numbers.multinomial(int(n), np.full(steps, 1 / steps)) for n in totals]
    members, holdout = (int(blocks[..., at].sum()) for at in (1, 0))
    sizes = {"n_members": members, "n_holdout": holdout}
    said |= sizes
    said["sites"], said["inputs"] = [], []
    return said, {
        "0/blocks": blocks,
        "0/single": numbers.random(cells) < draw.choice((0, 0.5, 1)),
        "0/steps": np.stack(rows, axis=1).astype(np.uint64),
        "0/step_single": numbers.random(steps) < 0.5,
    }


def _made_cuts(draw: random.Random) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    numbers = np.random.default_rng(draw.getrandbits(32))
    said = json.loads(json.dumps(_parts("b.cuts")[0]))
    many = draw.choice((0, 1, 3, 50))
    scale = draw.choice((1, 1e-300, 1e300, 1e-9))
    edges, atoms = (np.unique(numbers.normal(size=n) * scale) for n in (many, many // 2))
    if draw.random() < 0.3 and many:
        edges = np.unique([*edges, *draw.sample(_ODD[1:], 2)])
    counts = numbers.integers(0, draw.choice((2, 100)), (len(edges) + 1, 2)).astype(np.uint16)
    said |= {"n_members": int(counts[:, 1].sum()), "n_holdout": int(counts[:, 0].sum())}
    said["burn_in"] = draw.choice((7, 7, 20))
    return said, {"0/edges": edges, "0/atoms": atoms, "0/counts": counts}


def _odd_array(array: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    match draw.randrange(6):
        case 0:
            with np.errstate(all="ignore"):
                return array.astype(draw.choice(_TYPES))
        case 1:
            return array[: draw.randrange(len(array) + 1)]
        case 2:
            return np.repeat(array, draw.choice((1, 2, 3)), axis=0)
        case 3:
            return array[::-1]
        case 4:
            return array.reshape(-1)
        case _:
            found = array.copy()
            if found.size:
                odd = draw.choice(_ODD) if found.dtype.kind == "f" else draw.randrange(2)
                found.reshape(-1)[draw.randrange(found.size)] = odd
            return found


def _odd(
    said: dict[str, Any], arrays: dict[str, NDArray[Any]], draw: random.Random
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the same with a few parts changed, each to what its type allows."""
    arrays = dict(arrays)
    if draw.random() < 0.5:
        said = changed(shape_of(Manifest), said, draw, 0.01)
        said = said if isinstance(said, dict) else {}
    if draw.random() < 0.4:
        name = draw.choice(list(arrays))
        arrays[name] = _odd_array(arrays[name], draw)
    if draw.random() < 0.05:
        del arrays[draw.choice(list(arrays))]
    return said, arrays


def cuts(draw: random.Random) -> Case:
    """Return cuts of two sites or three, and a command that counts the rows of one by them."""
    files = {name: base_files()[name] for name in ("a.csv", "a.cuts")}
    if draw.random() < 0.1:
        files["a.cuts"] = _packed(*_odd(*_parts("a.cuts"), draw))
    for site in ("x", "y")[: draw.choice((1, 1, 2))]:
        said, arrays = _made_cuts(draw)
        said |= {"site": site, "seed": draw.getrandbits(60), "inputs": []}
        parts = _odd(said, arrays, draw) if draw.random() < 0.3 else (said, arrays)
        files[f"{site}.cuts"] = _packed(*parts)
    words = ["summarize", "a.csv", "--site", "a", "-q", "-o", "out.summary"]
    words += [word for name in files if name.endswith(".cuts") for word in ("--cuts", name)]
    words += draw.choice(([], [], [], ["--prior", "0.2"], ["--score-col", "score"]))
    return Case(tuple(words), files, secrets=("0.7391452",), outputs=("out.summary",))


def summary(draw: random.Random) -> Case:
    """Return counts of a site or two, and a command that audits them."""
    if draw.random() < 0.6:
        parts = {"x.summary": _made_counts(draw)}
    else:
        parts = {name: _parts(name) for name in ("a.summary", "b.summary")[: draw.choice((1, 2))]}
    odd = draw.random() < 0.25
    files = {name: _packed(*(_odd(*one, draw) if odd else one)) for name, one in parts.items()}
    command = "estimate" if draw.random() < 0.95 else draw.choice(("check", "records", "compare"))
    words = [command, *files, "-q", "-o", "out.csv" if command == "records" else "out"]
    if command == "estimate":
        words += draw.choice(
            (
                *([], [], ["--strict"], ["--max-advantage", "0.5"], ["--prior", "0.2"]),
                *(["--metric", "ppv"], ["--max-tpr-at-fpr", "0.1@0.01"], ["-f", "html"]),
                ["--claimed-epsilon", "1", "--adjacency", "add-remove"],
            )
        )
    return Case(tuple(words), files, outputs=("out", "out.csv"))
