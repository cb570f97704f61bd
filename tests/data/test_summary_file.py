"""Summary files: whole, or refused."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from functools import partial
from hashlib import sha256

import numpy as np
import pytest

import mipaudit
from mipaudit.data.summary_file import TEXT_NAME, array_bytes, pack, read_summary
from mipaudit.data.summary_source import add_up, counts_of, cuts_of
from mipaudit.errors import InputError
from tests.fixtures.codes import refused

bad = partial(refused, "bad_summary")


@pytest.fixture(scope="module")
def made():
    generator = np.random.default_rng(0)
    scores = {"members": generator.normal(1, 1, 700), "holdout": generator.normal(0, 1, 600)}
    return mipaudit.summarize(**scores), mipaudit.summarize(**scores, cuts_only=True, site="a")


@pytest.mark.parametrize("which", [0, 1])
def test_there_and_back(made, which):
    file = made[which]
    data = file.to_bytes()
    again = read_summary("again", data)
    assert again.manifest == file.manifest
    assert again.to_bytes() == data
    assert again.sha256 == sha256(data).hexdigest()
    for name, array in file.arrays.items():
        assert np.array_equal(again.arrays[name], array)
    read = cuts_of if which else counts_of
    assert read(again).n_members == 700


def test_no_score_is_in_a_summary(made):
    generator = np.random.default_rng(0)
    scores = [*generator.normal(1, 1, 700), *generator.normal(0, 1, 600)]
    for file in made:
        floats = {float(v) for a in file.arrays.values() if a.dtype.kind == "f" for v in a.ravel()}
        assert not floats & set(scores)


def test_a_damaged_file_is_refused(made):
    data = made[0].to_bytes()
    harmless = 0
    for place in range(0, len(data), max(1, len(data) // 300)):
        wrong = bytearray(data)
        wrong[place] ^= 0x55
        try:
            found = read_summary("part.summary", bytes(wrong))
        except InputError as error:
            assert error.code == "bad_summary"  # noqa: PT017
        else:
            # A byte that means nothing, such as a time within the archive.
            harmless += 1
            assert found.manifest == made[0].manifest
            assert all(np.array_equal(found.arrays[k], v) for k, v in made[0].arrays.items())
    assert harmless < 60
    for length in range(0, len(data), max(1, len(data) // 40)):
        bad(read_summary, "x.summary", data[:length])


def edited(file, arrays=None, **changes):
    """Write what a dishonest hand would: another content with the right checksums."""
    arrays = {**file.arrays, **(arrays or {})}
    sums = {name: sha256(array_bytes(array)).hexdigest() for name, array in arrays.items()}
    manifest = replace(file.manifest, arrays=sums, **changes)
    return read_summary("edited", replace(file, manifest=manifest, arrays=arrays).to_bytes())


def test_counts_that_do_not_add_up_are_refused(made):
    file = made[0]
    blocks = file.arrays["0/blocks"]
    more = blocks.copy()
    more[3, 0, 0] += 1
    scores = file.manifest.scores
    for change in (
        *({"arrays": {"0/blocks": one}} for one in (more, blocks[:, :, :1], blocks.astype(float))),
        {"arrays": {"0/steps": file.arrays["0/steps"][::-1][:-1]}},
        {"arrays": {"0/single": file.arrays["0/single"].astype(np.int8)}},
        *({"n_members": 701}, {"n_holdout": -600}),
        *({"burn_in": count} for count in (0, 64, 9)),
        *({"scores": one} for one in ((), scores * 2, (replace(scores[0], infinite=-1),))),
    ):
        bad(lambda change: counts_of(edited(file, **change)), change)


@pytest.mark.parametrize("burn_in", [1, 6, 21, 43, 63])
def test_counts_of_a_burn_in_that_no_run_has_are_refused(made, burn_in):
    blocks = made[0].arrays["0/blocks"].astype(np.int64)
    early, late = blocks[:burn_in].sum(axis=(0, 1)), blocks[burn_in:].sum(axis=(0, 1))
    steps = np.concatenate([late, early])[None].astype(np.uint16)
    arrays = {"0/steps": steps, "0/step_single": np.array([False])}
    bad(counts_of, edited(made[0], arrays=arrays, burn_in=burn_in))


def test_cuts_that_no_run_writes_are_refused(made):
    file = made[1]
    edges = file.arrays["0/edges"]
    wrong = (edges[::-1], np.full_like(edges, np.nan), edges[:-1], edges.astype(np.float32))
    for edge in wrong:
        bad(cuts_of, edited(file, arrays={"0/edges": edge}))
    # A promise of less than two records is none.
    for least in (-3, 0, 1, 1 << 90):
        bad(cuts_of, edited(file, least=least))


def test_another_version_is_told(made):
    text = json.loads(zipfile.ZipFile(io.BytesIO(made[0].to_bytes())).read(TEXT_NAME))
    for version in ("summary/1", "summary/2", "summary/3", "summary/5", "other/1"):
        text["schema"] = f"mipaudit.{version}"
        code = "bad_summary" if version == "other/1" else "summary_version"
        refused(code, read_summary, "new.summary", pack(json.dumps(text).encode(), {}))


def archive(text, files, kind=zipfile.ZIP_DEFLATED):
    """Return an archive of any text and files, with the checksum in its comment."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as found:
        found.writestr(TEXT_NAME, text)
        for name, file in files.items():
            found.writestr(f"{name}.npy", file)
        found.comment = sha256(text).hexdigest().encode()
    return stream.getvalue()


def npy(shape, descr="'<u1'", more=b""):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + more


HOSTILE_ARRAYS = [
    *map(npy, (f"({1 << 70},)", f"(0, {1 << 70})", "(100000000000, 2)")),
    npy("(2L,)", more=b"ab"),
    *(npy("(2,)", kind, b"ab") for kind in ("'|O'", "[('a', '<u1')]")),
    npy("(2,)", "'|b1'", b"\x07\x03"),
    b"\x93NUMPY\x01\x00\xe8\x03" + b"(" * 1000,
]


def bomb(data):
    """A huge member is not unpacked."""
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as found:
        found.writestr("1/blocks.npy", b"\0" * (65 << 20))
    assert len(file.getvalue()) < 1 << 20
    return file.getvalue()


def repacked(data, blocks=None, kind=zipfile.ZIP_DEFLATED):
    """Return the archive in another compression, or with another array and the right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        files = {name.removesuffix(".npy"): whole.read(name) for name in whole.namelist()}
    manifest = json.loads(files.pop(TEXT_NAME))
    files["0/blocks"] = files["0/blocks"] if blocks is None else blocks
    manifest["arrays"] = {name: sha256(file).hexdigest() for name, file in files.items()}
    return archive(json.dumps(manifest).encode(), files, kind)


REFUSED = [
    *(
        lambda _, data=data: data
        for data in (b"", b"PK\x03\x04", b"member,score\n1,2\n", b"\0" * 99)
    ),
    lambda _: archive(b"[" * 200_000, {}),
    lambda _: archive(b'{"schema":"mipaudit.summary/4","x":"\xff"}', {}),
    *(partial(repacked, blocks=array) for array in HOSTILE_ARRAYS),
    *(partial(repacked, kind=kind) for kind in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)),
    partial(repacked, kind=zipfile.ZIP_STORED),
    bomb,
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_what_no_run_writes_is_refused(made, at):
    data = made[0].to_bytes()
    read_summary("x", repacked(data))
    error = bad(read_summary, "x.summary", REFUSED[at](data))
    assert error.message.startswith("x.summary: not a complete summary file")


def times(file, factor):
    """Return a file of ``factor`` times as many records."""
    arrays = {
        name: file.arrays[name].astype(np.uint64) * np.uint64(factor)
        for name in ("0/blocks", "0/steps")
    }
    sizes = {"n_members": 700 * factor, "n_holdout": 600 * factor}
    return edited(file, arrays=arrays, **sizes)


def test_more_rows_than_memory_bears_are_refused(made):
    many = {"0/blocks": np.zeros((64, 1 << 18, 2), dtype=np.uint8)}
    bad(edited, made[0], arrays=many)
    bad(counts_of, times(made[0], 1 << 40))
    part = times(made[0], 1 << 29)
    refused("too_many_rows", add_up, [part, edited(part, created="later")])
    refused("same_rows", mipaudit.estimate, [made[0], made[0]])


def test_counts_that_only_say_they_are_by_one_plan_are_refused(made):
    other = mipaudit.summarize(
        members=np.random.default_rng(5).normal(0, 1, 90), holdout=np.arange(80.0)
    )
    assert other.arrays["0/single"].size != made[0].arrays["0/single"].size
    same = edited(other, plan=made[0].manifest.plan)
    flags = made[0].arrays["0/single"]
    lied = edited(made[0], arrays={"0/single": ~flags})
    for one in (same, lied):
        bad(add_up, [made[0], one])
