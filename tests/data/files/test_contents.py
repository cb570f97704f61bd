"""Files of other programs are refused by what they are, with how to make a table of them."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.check.run import check
from mipaudit.commands.query.model.losses import query_losses
from mipaudit.errors import InputError

FRAME = pd.DataFrame({"member": [0, 1] * 30, "score": np.arange(60) / 64})


def archive(member, ending="zip"):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as found:
        found.writestr(member, "x" * 300)
    return packed.getvalue()


def saved(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


FILES = {
    "s.pkl": (saved(FRAME.to_pickle), "never opened", "pandas.read_pickle('s.pkl')"),
    "s.csv": (pickle.dumps([1]), "never opened", "pandas.read_pickle('s.csv')"),
    "s.feather": (saved(FRAME.to_feather), "Arrow file", ".to_parquet('s.parquet')"),
    "s.npy": (saved(lambda to: np.save(to, FRAME.to_numpy())), "an array", "--logits s.npy"),
    "m.npz": (saved(lambda to: np.savez(to, a=[1.0])), "of arrays", "query lira --shadow m.npz"),
    "s.zip": (archive("summary.json"), "hold no scores", "Only `mipaudit estimate` reads counts"),
    "s.xlsx": (archive("[Content_Types].xml"), "an Excel workbook", "read_excel('s.xlsx')"),
    "book.csv": (archive("[Content_Types].xml"), "an Excel workbook", "read_excel('book.csv')"),
    "m.pt": (archive("archive/data.pkl"), "never opened", "numpy.savez('model.npz'"),
    "s.json": (FRAME.to_json(orient="records").encode(), "JSON", "pandas.read_json('s.json')"),
    "r.json": (b'{"schema": "mipaudit.report/1"}', "JSON", "mipaudit render r.json"),
    "s.jsonl": (b'{"member": 1, "score": 0.5}\n' * 9, "one record a line", "lines=True"),
    "s.h5": (b"\x89HDF\r\n\x1a\n" + bytes(60), "an HDF5 file", "read_hdf"),
    "s.pdf": (b"%PDF-1.7" + bytes(60), "a PDF document", "as CSV"),
    "page.csv": (b"<!DOCTYPE html><html><body>sign in", "a web page", "fetch the file itself"),
    "s.json.gz": (gzip.compress(FRAME.to_json(orient="records").encode()), "JSON", "read_json"),
    "s.sav": (b"$FL2" + bytes(60), "an SPSS file", "read_spss"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_it_is_and_what_to_do_is_said(tmp_path, monkeypatch, name):
    content, what, hint = FILES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InputError) as refused:
        check(name)

    assert refused.value.code == "not_a_table"
    assert refused.value.message.startswith(f"{name}: ")
    assert what in refused.value.message
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("name", ["s.pkl", "s.feather", "s.xlsx", "m.pt"])
def test_outputs_of_models_are_no_pickles_either(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name][0])

    with pytest.raises(InputError, match=FILES[name][1]):
        query_losses(logits=str(tmp_path / name))


def test_another_archive_is_to_be_unpacked(tmp_path):
    (tmp_path / "s.csv").write_bytes(archive("scores.csv"))

    with pytest.raises(InputError, match="a zip archive") as refused:
        check(tmp_path / "s.csv")

    assert refused.value.code == "zip_file"
    assert "Unpack" in refused.value.hint


@pytest.mark.parametrize("name", ["s.csv", "s.json.csv", "s.pkl.txt", "s.json", "s.pkl"])
def test_a_table_is_read_whatever_its_name(tmp_path, name):
    FRAME.to_csv(tmp_path / name, index=False)

    assert check(tmp_path / name).columns[0].score == "score"
