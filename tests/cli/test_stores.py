"""The installed command on an object store and on the web."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.files.store import DEFAULT_SECONDS

HUSH = "s3cr3t"


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(3)
    folder = tmp_path / "parts"
    for member in (0, 1):
        place = folder / f"member={member}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"loss": rng.normal(size=400) - member}), place / "a.parquet")
        (place / "b.csv").write_text("loss\n0.125\n-3.5\n", encoding="utf-8")
    return folder


def report(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = json.loads(done.stdout)
    provenance = found.pop("provenance")
    return found, provenance


def test_a_bucket_gives_the_same_report(mipaudit, bucket, parts):
    there = bucket.put_tree(parts, "release")
    local, _ = report(mipaudit("estimate", str(parts), "-f", "json"))
    done = mipaudit("estimate", there, "-f", "json", env=bucket.environment)
    remote, provenance = report(done)
    assert remote == local
    assert [one["name"] for one in provenance["inputs"]] == [
        f"{there}/member={member}/{name}" for member in (0, 1) for name in ("a.parquet", "b.csv")
    ]
    assert bucket.environment["AWS_SECRET_ACCESS_KEY"] not in done.stdout


def test_the_web_gives_the_same_report(mipaudit, website, parts):
    parts.rename(website.folder / "parts")
    local, remote = (
        report(
            mipaudit(
                *("estimate", "-f", "json"),
                *("--members", f"{place}/member=1/a.parquet"),
                *("--holdout", f"{place}/member=0/a.parquet"),
            )
        )[0]
        for place in (website.folder / "parts", f"{website.url}/parts")
    )
    assert local == remote


def test_no_secret_of_an_address_is_shown(mipaudit, website):
    (website.folder / "x.csv").write_text("member,loss\n" + "1,0.5\n0,1.5\n" * 30, encoding="utf-8")
    host = website.url.removeprefix("http://")
    for name, status in (("x.csv", 0), ("none.csv", 2)):
        signed = f"http://user:{HUSH}@{host}/{name}?signature={HUSH}"
        for form in ("json", "table", "html"):
            done = mipaudit("estimate", signed, "-f", form)
            assert done.returncode == status
            assert HUSH not in done.stdout + done.stderr
            assert f"{website.url}/{name}" in done.stdout + done.stderr


def test_a_file_address_is_guarded_like_its_file(mipaudit, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("member,loss\n" + "1,0.5\n0,1.5\n" * 30, encoding="utf-8")
    done = mipaudit("estimate", path.as_uri(), "-o", "x.csv")
    assert done.returncode == 2
    assert "The output x.csv is one of the inputs" in done.stderr


def test_without_credentials_a_bucket_is_asked_for_only_where_that_is_said(
    mipaudit, bucket, tmp_path
):
    there = bucket.put("x.csv", b"member,loss\n" + b"1,0.5\n0,1.5\n" * 30)
    place = {name: bucket.environment[name] for name in ("AWS_ENDPOINT_URL", "AWS_REGION")}
    env = {**place, "HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"}
    done = mipaudit("estimate", there, env=env)
    assert done.returncode == 2
    assert "If the file is public, add --anonymous" in done.stderr
    report(mipaudit("estimate", there, "--anonymous", "-f", "json", env=env))
    report(mipaudit("estimate", there, "-f", "json", env={**env, "MIPAUDIT_ANONYMOUS": "1"}))


def test_the_help_says_how_long_a_store_is_waited_for(mipaudit):
    shown = " ".join(mipaudit("estimate", "--help").stdout.split())
    assert f"such as s3://. [default: {DEFAULT_SECONDS:g}]" in shown
