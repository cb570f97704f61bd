"""A file that cannot be read is named, or left out of everything."""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.data.files.blob import file_blob
from mipaudit.data.formats import parquet
from mipaudit.data.parts import UNREADABLE, named_fault
from mipaudit.data.source import PiecePartition
from mipaudit.errors import InputError
from mipaudit.report.codec import to_json
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.verdict import reach_verdict
from mipaudit.summaries import plan
from tests.engine.test_engines import HostileExecutor
from tests.fixtures.codes import refused
from tests.fixtures.parts import columns, plain, write_parts

ENGINES = ["inline", "threads", "executor"]


def estimate(folder, engine="threads", **options):
    if engine == "executor":
        return mipaudit.estimate(folder, executor=HostileExecutor(2), **options)
    return mipaudit.estimate(folder, jobs=1 if engine == "inline" else 3, **options)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    """Damage the pages of the last row group, so that the file opens and cannot be read."""
    metadata = pq.ParquetFile(path).metadata
    column = metadata.row_group(metadata.num_row_groups - 1).column(1)
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    for at in range(start, start + column.total_compressed_size):
        data[at] ^= 0xFF
    path.write_bytes(data)


def codes(report):
    return [finding.code for finding in report.findings]


def without_skipping(report):
    """Return a report as if no file had been there to skip."""
    found = json.loads(plain(report))
    found["findings"] = [f for f in found["findings"] if f["code"] != "bad_parts_skipped"]
    return found


@pytest.fixture
def damaged(parts, tmp_path):
    """Return the parts with two damaged ones, and a folder of the sound ones."""
    sound = tmp_path / "sound"
    sound.mkdir()
    for path in sorted(parts.iterdir()):
        if path.name not in {"part-000.parquet", "part-002.parquet"}:
            (sound / path.name).write_bytes(path.read_bytes())
    return parts, sound


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", [cut_off, flip])
def test_a_bad_part_is_named(parts, engine, damage):
    damage(parts / "part-002.parquet")
    assert "part-002.parquet" in refused("bad_parquet", estimate, parts, engine).message


@pytest.mark.parametrize("engine", ENGINES)
def test_skipped_parts_are_left_out_of_everything(damaged, engine):
    parts, sound = damaged
    cut_off(parts / "part-000.parquet")
    flip(parts / "part-002.parquet")
    found = estimate(parts, engine, on_bad_part="skip")
    assert without_skipping(found) == json.loads(plain(estimate(sound)))
    (finding,) = [f for f in found.findings if f.code == "bad_parts_skipped"]
    for word in ("2 of 4 input files", "part-000.parquet", "part-002.parquet"):
        assert word in told(finding)
    assert is_serious(finding)
    assert len(found.provenance.inputs) == 2


@pytest.mark.parametrize("ask", [mipaudit.check, mipaudit.records])
def test_other_commands_skip_too(parts, ask):
    flip(parts / "part-001.parquet")
    flip(parts / "part-002.parquet")
    assert "bad_parts_skipped" in codes(ask(parts, on_bad_part="skip"))


@pytest.mark.parametrize("kept", [True, False])
def test_a_part_that_fails_after_it_was_read_only_starts_the_run_anew(damaged, monkeypatch, kept):
    parts, sound = damaged
    if not kept:
        # What is too large to keep is read twice.
        monkeypatch.setattr(plan, "EXACT_ROWS", 100)
    expected = json.loads(plain(estimate(sound, seed=7)))
    real, reads = PiecePartition.batches, []

    def batches(self, intake=None):
        if self.part.endswith(("part-000.parquet", "part-002.parquet")):
            reads.append(self.part)
            # The pieces of both files: 4 and 5 are read in the first pass.
            if len(reads) > (3 if kept else 9):
                raise named_fault(InputError("unreadable", f"{self.part}: lost."), self.part)
        yield from real(self, intake)

    monkeypatch.setattr(PiecePartition, "batches", batches)
    found = estimate(parts, on_bad_part="skip", seed=7)
    assert len(reads) > (3 if kept else 9)
    assert without_skipping(found) == expected


def test_a_policy_is_not_met_without_all_parts(parts):
    assert estimate(parts, max_advantage=0.9).verdict.status == "met"
    cut_off(parts / "part-001.parquet")
    found = estimate(parts, max_advantage=0.9, on_bad_part="skip")
    assert found.verdict.status == "inconclusive"
    assert "skipped" in told(found.verdict.reasons[0])
    assert found.answer.code == "answer_inconclusive"
    assert estimate(parts, max_advantage=0.01, on_bad_part="skip").verdict.status == "not_met"
    again = mipaudit.rejudge(to_json(found), max_advantage=0.95)
    assert again.verdict.status == "inconclusive"
    assert again.answer.get("reason").code == "open_parts_skipped"
    assert reach_verdict((), (), incomplete=True).status == "no_policy"


def test_no_number_of_records_settles_what_files_that_were_skipped_leave_open(parts):
    cut_off(parts / "part-001.parquet")
    for ask in (mipaudit.estimate, mipaudit.records):
        limit = {"max_advantage": 0.2} if ask is mipaudit.estimate else {"max_risk": 0.9}
        found = ask(parts, on_bad_part="skip", jobs=1, **limit)
        assert found.verdict.status == "inconclusive"
        assert {one.records_to_settle for one in found.policy} == {None}
        text = " ".join(brief_report(found, width=80).split())
        assert "records in all" not in text
        assert "Next: replace the files that cannot be read. See mipaudit help scale." in text


def test_a_comparison_with_a_report_that_lacks_parts_is_not_met(parts):
    whole = estimate(parts)
    other = estimate(parts / "part-000.parquet")
    assert mipaudit.compare(other, whole, max_increase=0.9).verdict.status == "met"
    cut_off(parts / "part-001.parquet")
    less = estimate(parts, on_bad_part="skip")
    assert mipaudit.compare(other, less, max_increase=0.9).verdict.status == "inconclusive"


@pytest.mark.parametrize("fault", ["nan", "labels", "changed"])
def test_skipping_never_covers_what_the_data_say(tmp_path, fault, monkeypatch):
    table = columns()
    if fault == "nan":
        table["loss"][3] = float("nan")
    if fault == "labels":
        table["member"] = ["train", "test", "val"] * (len(table["loss"]) // 3)
    folder = write_parts(tmp_path / "parts", (3_000,), table=table)
    if fault == "changed":
        path = folder / "part-001.parquet"

        def changing(done, total):
            cut_off(path)
            os.utime(path, ns=(1, 1))

        asked = {"on_bad_part": "skip", "progress": changing}
        refused("input_changed", estimate, folder, "inline", **asked)
        return
    refused("nan_scores" if fault == "nan" else "many_labels", estimate, folder, on_bad_part="skip")


def test_what_is_all_there_is_cannot_be_skipped(parts, monkeypatch):
    for path in parts.iterdir():
        cut_off(path)
    refused("bad_parquet", estimate, parts, on_bad_part="skip")
    stream = SimpleNamespace(buffer=io.BytesIO(b"member,loss\n1,0.5\n0"))
    monkeypatch.setattr(sys, "stdin", stream)
    refused("ragged_rows", mipaudit.estimate, "-", on_bad_part="skip")


def test_damaged_csv_is_skipped(write):
    for name, step, end in (("a", 7, ""), ("b", 5, ""), ("c", 3, "1")):
        rows = "".join(f"{at % 2},{at * step % 31}.5\n" for at in range(300))
        folder = write(f"member,loss\n{rows}{end}", f"csv/{name}.csv").parent
    found = estimate(folder, on_bad_part="skip")
    assert "bad_parts_skipped" in codes(found)
    assert found.design.n_members == 300


def test_a_worker_that_cannot_see_a_file_is_no_bad_part(parts, monkeypatch):
    def blind(blob):
        raise InputError("unreadable", f"{blob.name}: No such file or directory.")

    monkeypatch.setattr(parquet, "_opened_here", blind)

    class Travelling(HostileExecutor):
        def submit(self, fn, /, *args):
            return super().submit(*pickle.loads(pickle.dumps((fn, *args))))  # noqa: S301

    refused("worker_blind", mipaudit.estimate, parts, executor=Travelling(1), on_bad_part="skip")


def test_a_file_that_vanishes_is_named(tmp_path):
    found = tmp_path / "part.csv"
    found.write_text("member,score\n1,2\n0,1\n")
    blob = file_blob(found)
    found.unlink()
    with pytest.raises(InputError) as caught:
        blob.open()
    assert caught.value.code in UNREADABLE
    assert "part.csv" in caught.value.message
