"""Make what the golden runs read: `python inputs.py FOLDER [--large]`.

Both sides read the same files. Nothing here is mipaudit's. The streams of numpy's `RandomState`
are frozen, and all numbers are rounded, so that another processor makes the same.
"""

from __future__ import annotations

import csv
import gzip
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
LARGE = 2**21 + 50_000


def scores(seed: int, n: int, shift: float) -> pd.DataFrame:
    """Return n members and n others, whose scores lie apart by a shift."""
    draw = np.random.RandomState(seed)
    member = draw.permutation(np.repeat([1, 0], n))
    loss = np.round(draw.standard_normal(2 * n) - shift * member, 6)
    conf = np.round(loss * -0.5 + draw.standard_normal(2 * n), 6)
    return pd.DataFrame(
        {
            "id": [f"r{number:05}" for number in range(2 * n)],
            "member": member,
            "loss": loss,
            "conf": conf,
            "sex": draw.choice(["f", "m"], 2 * n),
            "ward": draw.choice(["north", "south", "east, far"], 2 * n, p=[0.6, 0.39, 0.01]),
        }
    )


def text(frame: pd.DataFrame, **how: object) -> str:
    """Return a table as CSV."""
    return frame.to_csv(index=False, lineterminator="\n", **how)


def dialects(folder: Path) -> None:
    """Write one table in many forms."""
    frame = scores(1, 300, 0.8)
    plain = text(frame)
    (folder / "small.csv").write_text(plain)
    (folder / "semicolon.csv").write_text(text(frame, sep=";"))
    (folder / "decimal_comma.csv").write_text(text(frame, sep=";", decimal=","))
    (folder / "tab.csv").write_text(text(frame, sep="\t"))
    (folder / "bar.csv").write_text(text(frame, sep="|"))
    quoted = text(frame.rename(columns={"loss": 'loss, "own"'}), quoting=csv.QUOTE_ALL)
    (folder / "quoted.csv").write_text(quoted)
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    (folder / "latin.csv").write_bytes(plain.replace("north", "nörd").encode("latin-1"))
    (folder / "no_end.csv").write_text(plain.rstrip("\n"))
    (folder / "words.csv").write_text(
        text(frame.assign(member=np.where(frame["member"] == 1, "train", "test")))
    )
    (folder / "small.csv.gz").write_bytes(gzip.compress(plain.encode(), mtime=0))
    with pa.CompressedOutputStream(str(folder / "small.csv.zst"), "zstd") as out:
        out.write(plain.encode())
    for name, rows in (("in.csv", frame["member"] == 1), ("out.csv", frame["member"] == 0)):
        part = frame[rows].drop(columns="member")
        (folder / name).write_text(text(part))
        # As many as the tables of records have, for blind audits.
        (folder / name.replace(".", "240.")).write_text(text(part.iloc[:240]))
    for name, places in (("parts", 3), ("parquet_parts", 3)):
        (folder / name).mkdir()
        for place in range(places):
            part = frame.iloc[place * 200 : (place + 1) * 200]
            if name == "parts":
                (folder / name / f"{place}.csv").write_text(text(part))
            else:
                part.to_parquet(folder / name / f"{place}.parquet", index=False)
    for side in (0, 1):
        inside = folder / "hive" / f"member={side}"
        inside.mkdir(parents=True)
        rows = frame[frame["member"] == side].drop(columns="member")
        rows.to_parquet(inside / "part.parquet", index=False)


def types(folder: Path) -> None:
    """Write Parquet files of many types."""
    frame = scores(2, 800, 0.5)
    frame.to_parquet(folder / "f64.parquet", index=False)
    for name, kind in (("f32", "float32"), ("f16", "float16")):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for column in ("loss", "conf"):
            place = table.column_names.index(column)
            array = pa.array(frame[column].to_numpy().astype(kind))
            table = table.set_column(place, column, array)
        pq.write_table(table, folder / f"{name}.parquet")
    vectors = np.column_stack((frame["loss"], frame["conf"]))
    table = pa.table(
        {"member": frame["member"], "score": pa.array(list(vectors), pa.list_(pa.float64()))}
    )
    pq.write_table(table, folder / "lists.parquet")
    frame.assign(loss=(frame["loss"] * 4).round().astype(int)).drop(columns="conf").to_parquet(
        folder / "integers.parquet", index=False
    )
    frame.assign(loss=frame["loss"] < 0).drop(columns="conf").to_parquet(
        folder / "booleans.parquet", index=False
    )
    frame.assign(member=frame["member"] == 1).to_parquet(
        folder / "many_groups.parquet", index=False, row_group_size=150
    )
    decimals = pa.array(frame["loss"].round(4).astype(str)).cast(pa.decimal128(12, 4))
    pq.write_table(pa.table({"member": frame["member"], "loss": decimals}), folder / "dec.parquet")


def laws(folder: Path) -> None:
    """Write score files that leak much, little, nothing, in few values, and oddly."""
    scores(3, 2000, 0.0).to_parquet(folder / "null.parquet", index=False)
    scores(4, 2000, 2.0).to_parquet(folder / "strong.parquet", index=False)
    wide = scores(10, 20_000, 0.5)[["member", "loss"]]
    wide.to_parquet(folder / "wide.parquet", index=False)
    scores(5, 15, 1.0).to_csv(folder / "tiny.csv", index=False)
    draw = np.random.RandomState(6)
    member = np.repeat([1, 0], 600)
    levels = np.where(
        member == 1, draw.choice(4, 1200, p=[0.1, 0.2, 0.3, 0.4]), draw.choice(4, 1200)
    )
    pd.DataFrame({"member": member, "score": levels}).to_csv(folder / "levels.csv", index=False)
    two = pd.DataFrame({"member": member, "correct": draw.random_sample(1200) < 0.6 + 0.2 * member})
    two.to_csv(folder / "two.csv", index=False)
    # Few records of two values: the classes alike but for one record, and of unequal size.
    for name, members, others in (
        ("apart_by_one", (56, 54), (55, 55)),
        ("uneven", (45, 15), (60, 80)),
    ):
        few = [(1, value) for value in (0, 1) for _ in range(members[value])]
        few += [(0, value) for value in (0, 1) for _ in range(others[value])]
        pd.DataFrame(few, columns=["member", "score"]).to_csv(folder / f"{name}.csv", index=False)
    frame = scores(7, 600, 0.7)
    holes = frame.assign(loss=frame["loss"].mask(draw.random_sample(1200) < 0.05))
    holes.drop(columns="conf").to_csv(folder / "holes.csv", index=False)
    biased = frame["loss"].mask((draw.random_sample(1200) < 0.2) & (frame["member"] == 1))
    frame.assign(loss=biased).drop(columns="conf").to_csv(folder / "holes_tell.csv", index=False)
    odd = frame.assign(loss=frame["loss"].where(draw.random_sample(1200) > 0.02, -999.0))
    odd.assign(conf=frame["conf"].where(draw.random_sample(1200) > 0.02, np.inf)).to_csv(
        folder / "sentinels.csv", index=False
    )
    persons = frame.assign(person=[f"p{number // 3:04}" for number in range(1200)])
    persons.to_csv(folder / "persons.csv", index=False)
    for name, of_members, of_others in (("copies", 0.05, 0.0), ("common_copies", 0.02, 0.02)):
        told = draw.random_sample(1200) < np.where(frame["member"] == 1, of_members, of_others)
        frame.assign(exact_copy=told.astype(int)).to_csv(folder / f"{name}.csv", index=False)
    pair = frame.assign(loss=np.round(frame["loss"] + 0.3 * draw.standard_normal(1200), 6))
    frame.to_csv(folder / "old.csv", index=False)
    pair.sample(frac=1, random_state=draw).to_csv(folder / "new.csv", index=False)
    scores(8, 500, 0.3).to_csv(folder / "apart.csv", index=False)
    scores(9, 400, 1.2).assign(model=draw.choice([1, 2, 3], 800)).to_csv(
        folder / "models.csv", index=False
    )
    residuals = np.round(draw.standard_normal(1200) * (1 + 0.6 * (member == 0)), 5)
    pd.DataFrame({"member": member, "residual": residuals}).to_csv(
        folder / "residuals.csv", index=False
    )


def mechanisms(folder: Path) -> None:
    """Write runs and canaries of private mechanisms, and guesses of an attribute."""
    draw = np.random.RandomState(11)
    member = draw.permutation(np.repeat([1, 0], 1500))
    pd.DataFrame(
        {"member": member, "score": np.round(draw.laplace(size=3000) + 2 * member, 5)}
    ).to_csv(folder / "runs.csv", index=False)
    included = draw.randint(0, 2, 1000)
    canaries = pd.DataFrame(
        {"included": included, "score": np.round(draw.standard_normal(1000) + 2 * included, 5)}
    )
    canaries.to_csv(folder / "canaries.csv", index=False)
    several = pd.DataFrame(
        {
            "run": np.repeat([1, 2, 3], 200),
            "canary": np.tile(np.arange(200), 3),
            "included": draw.randint(0, 2, 600),
        }
    )
    several["score"] = np.round(draw.standard_normal(600) + several["included"], 5)
    several.to_csv(folder / "several_runs.csv", index=False)
    curve = pd.DataFrame({"fpr": [0, 0.01, 0.1, 0.5, 1], "tpr": [0, 0.05, 0.3, 0.8, 1]})
    curve.to_csv(folder / "curve.csv", index=False)
    truth = draw.choice(["flu", "cold", "none"], 1200, p=[0.3, 0.2, 0.5])
    right = draw.random_sample(1200) < 0.5 + 0.2 * np.repeat([1, 0], 600)
    guesses = pd.DataFrame(
        {
            "member": np.repeat([1, 0], 600),
            "attribute": truth,
            "guess": np.where(right, truth, draw.choice(["flu", "cold", "none"], 1200)),
        }
    )
    guesses.to_csv(folder / "guesses.csv", index=False)
    guesses.assign(person=np.arange(1200) // 2).to_csv(folder / "guesses_of.csv", index=False)
    for name, n in (("splits_few.csv", 12), ("splits_many.csv", 400)):
        splits = draw.standard_normal((n, 3)) * [1, 2, 0.5] + [3, 0, 1]
        pd.DataFrame(np.round(splits, 6), columns=["a", "b", "c"]).to_csv(
            folder / name, index=False
        )
    pd.DataFrame({"a": [3.1], "b": [0.2], "c": [1.05]}).to_csv(folder / "release.csv", index=False)
    before = np.round(draw.standard_normal((120, 3)), 6)
    after = np.round(before + 0.05 * draw.standard_normal((120, 3)), 6)
    pairs = pd.DataFrame(np.vstack((before, after)), columns=["a", "b", "c"])
    pairs.insert(0, "pair_id", np.tile(np.arange(120), 2))
    pairs.insert(1, "side", np.repeat(["before", "after"], 120))
    pairs.to_csv(folder / "pairs.csv", index=False)


def tables(folder: Path) -> None:
    """Write tables of records: members, others, synthetic ones, and references."""
    draw = np.random.RandomState(12)

    def records(n: int, older: float) -> pd.DataFrame:
        days = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.randint(0, 900, n), "D")
        return pd.DataFrame(
            {
                "age": np.round(40 + older + 12 * draw.standard_normal(n)).astype(int),
                "weight": np.round(70 + 9 * draw.standard_normal(n), 1),
                "ward": draw.choice(["north", "south", "east"], n),
                "admitted": days.strftime("%Y-%m-%d"),
            }
        )

    members, holdout = records(240, 0), records(240, 3)
    near = members.iloc[:90].assign(weight=members["weight"].iloc[:90] + 0.1)
    synthetic = pd.concat([near, records(150, 0), members.iloc[100:112]])
    for name, table in (
        ("t_members", members),
        ("t_holdout", holdout),
        ("t_synthetic", synthetic),
        ("t_reference", records(240, 1)),
        ("t_alike", records(240, 0)),
    ):
        table.to_csv(folder / f"{name}.csv", index=False)
    visits = holdout.assign(patient=np.arange(240) // 2)
    visits.to_csv(folder / "t_visits.csv", index=False)
    members.assign(patient=np.arange(240) // 2 + 100).to_csv(folder / "t_patients.csv", index=False)
    n, classes = 500, 4
    labels = draw.randint(0, classes, n)
    member = draw.randint(0, 2, n)
    logits = draw.standard_normal((n, classes))
    logits[np.arange(n), labels] += 1 + member
    table = pd.DataFrame(np.round(logits, 5), columns=[f"class_{k}" for k in range(classes)])
    table.assign(label=labels, member=member).to_csv(folder / "logits.csv", index=False)
    lists = pa.array(list(table.to_numpy()), pa.list_(pa.float64()))
    pq.write_table(
        pa.table({"logits": lists, "label": labels, "member": member}),
        folder / "logits_lists.parquet",
    )


POLICIES = {
    "met": "max_advantage = 0.9\n",
    "not_met": 'max_advantage = 0.05\non_inconclusive = "fail"\n',
    "open": "max_advantage = 0.32\n",
    "open_pass": 'max_advantage = 0.32\non_inconclusive = "pass"\n',
    "many": (
        "prior = 0.2\nmetric = ['ppv', 'f1']\n[[limit]]\nquantity = 'auc'\nmax = 0.9\n"
        "[[limit]]\nquantity = 'tpr_at_fpr'\nfpr = 0.05\nmax = 0.5\n"
        "[[limit]]\nquantity = 'accuracy'\nprior = 0.1\nmax = 0.98\n"
        "[[limit]]\nquantity = 'metric'\nmetric = 'f1'\nmax = 0.9\nagainst = 'thresholds'\n"
        "[[limit]]\nquantity = 'excess'\nmax = 0.3\nscore = 'loss'\n"
    ),
    "waived": (
        "[[limit]]\nquantity = 'advantage'\nmax = 0.05\n[[waiver]]\nquantity = 'advantage'\n"
        "reason = 'known'\nperson = 'A. Person'\nexpires = 2099-12-31\n"
    ),
    "ended": (
        "[[limit]]\nquantity = 'advantage'\nmax = 0.05\n[[waiver]]\nquantity = 'advantage'\n"
        "reason = 'known'\nperson = 'A. Person'\nexpires = 2020-12-31\n"
    ),
    "unmatched": (
        "max_advantage = 0.9\n[[waiver]]\nquantity = 'auc'\n"
        "reason = 'known'\nperson = 'A. Person'\nexpires = 2099-12-31\n"
    ),
    "some_waived": (
        "[[limit]]\nquantity = 'advantage'\nmax = 0.05\n[[limit]]\nquantity = 'auc'\nmax = 0.55\n"
        "[[waiver]]\nquantity = 'advantage'\nscore = 'loss'\n"
        "reason = 'known'\nperson = 'A. Person'\nexpires = 2099-12-31\n"
    ),
    "copies": "max_copies = 60\nmax_advantage = 0.9\n",
    "few_copies": "max_copies = 3\n",
    "groups": (
        "[[limit]]\nquantity = 'advantage'\ngroup = '*'\nmax = 0.7\n"
        "[[limit]]\nquantity = 'difference'\ngroup = 'sex=f'\nmax = 0.3\n"
        "[[limit]]\nquantity = 'risk'\nmax = 0.9\n"
    ),
    "any_difference": "[[limit]]\nquantity = 'any_difference'\nmax = 0\n",
    "one_score": "score_col = ['loss']\nmax_advantage = 0.9\n",
    "strict": "[estimate]\nstrict = true\nmax_eta = 0.3\nconfidence = 0.99\n",
    "wrong_key": "max_advantge = 0.1\n",
    "wrong_kind": 'max_advantage = "0.1"\n',
    "acts": 'max_advantage = 0.1\noutput = "x.json"\n',
    "not_toml": "max_advantage = = 0.1\n",
}


def wrong(folder: Path) -> None:
    """Write what cannot be read, or not be audited."""
    small = (folder / "small.csv").read_text()
    head, *rows = small.splitlines(keepends=True)
    for name, content in {
        "empty.csv": "",
        "only_header.csv": head,
        "one_class.csv": head + "".join(row for row in rows if row.split(",")[1] == "1"),
        "ragged.csv": head + "".join(rows[:5]) + "r9,1,2\n",
        "text_score.csv": head + "".join(rows).replace(rows[7].split(",")[2], "much"),
        "repeated.csv": small + rows[0],
        "many_labels.csv": small.replace(",1,", ",7,", 1).replace(",0,", ",9,", 1),
        "twice.csv": head.replace("conf", "loss") + "".join(rows),
        "constant.csv": "member,score\n" + "".join(f"{k % 2},1.5\n" for k in range(60)),
        "no_member.csv": "a,score\n" + "".join(f"{k},{k * 0.5}\n" for k in range(60)),
        "no_score.csv": "member,name\n" + "".join(f"{k % 2},x{k}\n" for k in range(60)),
        "nan.csv": "member,score\n" + "".join(f"{k % 2},{k or ''}\n" for k in range(60)),
        "not_json.json": "{",
        "other.json": '{"a": 1}\n',
        "first.json": '{"schema": "mipaudit.report/1"}\n',
        "bad.parquet": "PAR1 no more PAR1",
        "bad.summary": "mipaudit",
        "bad_curve.csv": "fpr,tpr\n0,0\n0.5,1.5\n",
    }.items():
        (folder / name).write_text(content)
    (folder / "zero.csv").write_bytes(b"member,score\n1,\x00\n")
    (folder / "cut.csv.gz").write_bytes((folder / "small.csv.gz").read_bytes()[:900])
    (folder / "bad_parts").mkdir()
    shutil.copy(folder / "parquet_parts" / "0.parquet", folder / "bad_parts")
    (folder / "bad_parts" / "1.parquet").write_text("PAR1 no more PAR1")
    for name, policy in POLICIES.items():
        (folder / f"{name}.toml").write_text(policy)


def large(folder: Path) -> None:
    """Write more rows than are held in order, and as many of few values."""
    draw = np.random.RandomState(13)
    member = draw.randint(0, 2, LARGE).astype(np.int8)
    score = (draw.random_sample(LARGE).astype(np.float32) + 0.1 * member).round(5)
    level = draw.randint(0, 5, LARGE) + (draw.random_sample(LARGE) < 0.1 * member)
    table = pa.table({"member": member, "score": score.astype(np.float32), "level": level})
    pq.write_table(table, folder / "large.parquet", row_group_size=2**19)


def main(folder: Path, *, with_large: bool) -> None:
    """Write all inputs into a folder that is not there yet."""
    folder.mkdir(parents=True)
    samples = folder / "sample_data"
    samples.mkdir()
    for path in (ROOT / "sample_data").iterdir():
        if path.suffix in (".csv", ".parquet", ".npz"):
            shutil.copy(path, samples)
    for make in (dialects, types, laws, mechanisms, tables, wrong):
        make(folder)
    if with_large:
        large(folder)
    shutil.copy(Path(__file__).with_name("frames.py"), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), with_large="--large" in sys.argv)
