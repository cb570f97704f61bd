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


def put(path: Path, table: object, **how: object) -> None:
    """Write a table as the name of its file ends."""
    frame = pd.DataFrame(table)
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False, **how)
    else:
        frame.to_csv(path, index=False, lineterminator="\n", **how)


def dialects(folder: Path) -> None:
    """Write one table in many forms."""
    frame = scores(1, 300, 0.8)
    put(folder / "small.csv", frame)
    put(folder / "semicolon.csv", frame, sep=";")
    put(folder / "decimal_comma.csv", frame, sep=";", decimal=",")
    put(folder / "tab.csv", frame, sep="\t")
    put(folder / "bar.csv", frame, sep="|")
    quoted = frame.rename(columns={"loss": 'loss, "own"'})
    put(folder / "quoted.csv", quoted, quoting=csv.QUOTE_ALL)
    put(folder / "words.csv", frame.assign(member=np.where(frame["member"] == 1, "train", "test")))
    plain = (folder / "small.csv").read_bytes()
    for name, data in {
        "bom.csv": b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
        "latin.csv": plain.replace(b"north", b"n\xf6rd"),
        "no_end.csv": plain.rstrip(b"\n"),
        "small.csv.gz": gzip.compress(plain, mtime=0),
    }.items():
        (folder / name).write_bytes(data)
    with pa.CompressedOutputStream(str(folder / "small.csv.zst"), "zstd") as out:
        out.write(plain)
    for name in ("parts", "parquet_parts", "hive/member=0", "hive/member=1"):
        (folder / name).mkdir(parents=True)
    for side, name in ((1, "in"), (0, "out")):
        rows = frame[frame["member"] == side].drop(columns="member")
        put(folder / f"{name}.csv", rows)
        # As many as the tables of records have, for blind audits.
        put(folder / f"{name}240.csv", rows.iloc[:240])
        put(folder / "hive" / f"member={side}" / "part.parquet", rows)
    for place in range(3):
        part = frame.iloc[place * 200 : (place + 1) * 200]
        put(folder / "parts" / f"{place}.csv", part)
        put(folder / "parquet_parts" / f"{place}.parquet", part)


def types(folder: Path) -> None:
    """Write Parquet files of many types."""
    frame = scores(2, 800, 0.5)
    loss, member, one = frame["loss"], frame["member"], frame.drop(columns="conf")
    put(folder / "f64.parquet", frame)
    put(folder / "integers.parquet", one.assign(loss=(loss * 4).round().astype(int)))
    put(folder / "booleans.parquet", one.assign(loss=loss < 0))
    put(folder / "many_groups.parquet", frame.assign(member=member == 1), row_group_size=150)
    for name, kind in (("f32", "float32"), ("f16", "float16")):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for column in ("loss", "conf"):
            array = pa.array(frame[column].to_numpy().astype(kind))
            table = table.set_column(table.column_names.index(column), column, array)
        pq.write_table(table, folder / f"{name}.parquet")
    vectors = pa.array(list(np.column_stack((loss, frame["conf"]))), pa.list_(pa.float64()))
    pq.write_table(pa.table({"member": member, "score": vectors}), folder / "lists.parquet")
    decimals = pa.array(loss.round(4).astype(str)).cast(pa.decimal128(12, 4))
    pq.write_table(pa.table({"member": member, "loss": decimals}), folder / "dec.parquet")


def laws(folder: Path) -> None:
    """Write score files that leak much, little, nothing, in few values, and oddly."""
    put(folder / "null.parquet", scores(3, 2000, 0.0))
    put(folder / "strong.parquet", scores(4, 2000, 2.0))
    put(folder / "wide.parquet", scores(10, 20_000, 0.5)[["member", "loss"]])
    put(folder / "tiny.csv", scores(5, 15, 1.0))
    draw = np.random.RandomState(6)
    member = np.repeat([1, 0], 600)
    leaking = draw.choice(4, 1200, p=[0.1, 0.2, 0.3, 0.4])
    levels = np.where(member == 1, leaking, draw.choice(4, 1200))
    put(folder / "levels.csv", {"member": member, "score": levels})
    right = draw.random_sample(1200) < 0.6 + 0.2 * member
    put(folder / "two.csv", {"member": member, "correct": right})
    # Few records of two values: the classes alike but for one record, and of unequal size.
    for name, counts in (("apart_by_one", (56, 54, 55, 55)), ("uneven", (45, 15, 60, 80))):
        few = {"member": np.repeat([1, 1, 0, 0], counts), "score": np.repeat([0, 1, 0, 1], counts)}
        put(folder / f"{name}.csv", few)
    frame = scores(7, 600, 0.7)
    loss, inside, one = frame["loss"], frame["member"] == 1, frame.drop(columns="conf")
    put(folder / "holes.csv", one.assign(loss=loss.mask(draw.random_sample(1200) < 0.05)))
    biased = loss.mask((draw.random_sample(1200) < 0.2) & inside)
    put(folder / "holes_tell.csv", one.assign(loss=biased))
    odd = frame.assign(loss=loss.where(draw.random_sample(1200) > 0.02, -999.0))
    odd["conf"] = frame["conf"].where(draw.random_sample(1200) > 0.02, np.inf)
    put(folder / "sentinels.csv", odd)
    put(folder / "persons.csv", frame.assign(person=[f"p{at // 3:04}" for at in range(1200)]))
    for name, of_members, of_others in (("copies", 0.05, 0.0), ("common_copies", 0.02, 0.02)):
        told = draw.random_sample(1200) < np.where(inside, of_members, of_others)
        put(folder / f"{name}.csv", frame.assign(exact_copy=told.astype(int)))
    pair = frame.assign(loss=np.round(loss + 0.3 * draw.standard_normal(1200), 6))
    put(folder / "old.csv", frame)
    put(folder / "new.csv", pair.sample(frac=1, random_state=draw))
    put(folder / "apart.csv", scores(8, 500, 0.3))
    put(folder / "models.csv", scores(9, 400, 1.2).assign(model=draw.choice([1, 2, 3], 800)))
    residuals = np.round(draw.standard_normal(1200) * (1 + 0.6 * (member == 0)), 5)
    put(folder / "residuals.csv", {"member": member, "residual": residuals})


def mechanisms(folder: Path) -> None:
    """Write runs and canaries of private mechanisms, and guesses of an attribute."""
    draw = np.random.RandomState(11)
    member = draw.permutation(np.repeat([1, 0], 1500))
    score = np.round(draw.laplace(size=3000) + 2 * member, 5)
    put(folder / "runs.csv", {"member": member, "score": score})
    included = draw.randint(0, 2, 1000)
    score = np.round(draw.standard_normal(1000) + 2 * included, 5)
    put(folder / "canaries.csv", {"included": included, "score": score})
    run, canary = np.repeat([1, 2, 3], 200), np.tile(np.arange(200), 3)
    several = pd.DataFrame({"run": run, "canary": canary, "included": draw.randint(0, 2, 600)})
    several["score"] = np.round(draw.standard_normal(600) + several["included"], 5)
    put(folder / "several_runs.csv", several)
    put(folder / "curve.csv", {"fpr": [0, 0.01, 0.1, 0.5, 1], "tpr": [0, 0.05, 0.3, 0.8, 1]})
    ills = ["flu", "cold", "none"]
    truth = draw.choice(ills, 1200, p=[0.3, 0.2, 0.5])
    right = draw.random_sample(1200) < 0.5 + 0.2 * np.repeat([1, 0], 600)
    guess = np.where(right, truth, draw.choice(ills, 1200))
    guesses = {"member": np.repeat([1, 0], 600), "attribute": truth, "guess": guess}
    put(folder / "guesses.csv", guesses)
    put(folder / "guesses_of.csv", {**guesses, "person": np.arange(1200) // 2})

    def values(of: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(np.round(of, 6), columns=["a", "b", "c"])

    for name, n in (("few", 12), ("many", 400)):
        splits = draw.standard_normal((n, 3)) * [1, 2, 0.5] + [3, 0, 1]
        put(folder / f"splits_{name}.csv", values(splits))
    put(folder / "release.csv", {"a": [3.1], "b": [0.2], "c": [1.05]})
    before = np.round(draw.standard_normal((120, 3)), 6)
    pairs = values(np.vstack((before, before + 0.05 * draw.standard_normal((120, 3)))))
    pairs.insert(0, "pair_id", np.tile(np.arange(120), 2))
    pairs.insert(1, "side", np.repeat(["before", "after"], 120))
    put(folder / "pairs.csv", pairs)


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
    patient = np.arange(240) // 2
    for name, table in {
        "members": members,
        "holdout": holdout,
        "synthetic": pd.concat([near, records(150, 0), members.iloc[100:112]]),
        "reference": records(240, 1),
        "alike": records(240, 0),
        "visits": holdout.assign(patient=patient),
        "patients": members.assign(patient=patient + 100),
    }.items():
        put(folder / f"t_{name}.csv", table)
    n, classes = 500, 4
    who = {"label": draw.randint(0, classes, n), "member": draw.randint(0, 2, n)}
    logits = draw.standard_normal((n, classes))
    logits[np.arange(n), who["label"]] += 1 + who["member"]
    logits = np.round(logits, 5)
    table = pd.DataFrame(logits, columns=[f"class_{k}" for k in range(classes)])
    put(folder / "logits.csv", table.assign(**who))
    lists = pa.array(list(logits), pa.list_(pa.float64()))
    pq.write_table(pa.table({"logits": lists, **who}), folder / "logits_lists.parquet")


ADVANTAGE = "[[limit]]\nquantity = 'advantage'\nmax = 0.05\n"
WAIVED = "reason = 'known'\nperson = 'A. Person'\nexpires = 2099-12-31\n"
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
    "waived": f"{ADVANTAGE}[[waiver]]\nquantity = 'advantage'\n{WAIVED}",
    "ended": f"{ADVANTAGE}[[waiver]]\nquantity = 'advantage'\n{WAIVED}".replace("2099", "2020"),
    "unmatched": f"max_advantage = 0.9\n[[waiver]]\nquantity = 'auc'\n{WAIVED}",
    "some_waived": (
        f"{ADVANTAGE}[[limit]]\nquantity = 'auc'\nmax = 0.55\n"
        f"[[waiver]]\nquantity = 'advantage'\nscore = 'loss'\n{WAIVED}"
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
