"""Scores in object stores and on web servers: the same rows as from files, or one clear error."""

from __future__ import annotations

import builtins
import gzip
import io
import pickle
import socket
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_servers import clear_environment
from yarl import URL

from mipaudit.data.files import blob as blobs
from mipaudit.data.files import cloud, paths, store
from mipaudit.data.files import web as web_server
from mipaudit.data.files.paths import find_blobs
from mipaudit.data.files.store import parse_address
from mipaudit.data.opening import open_part
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import public_address
from mipaudit.statements.provenance import plain_value
from tests.fixtures.codes import refused
from tests.fixtures.files import opened

HUSH = "s3cr3t"
DATA = b"member,loss\n1,0.5\n0,1.25\n"


def scores_table(rows=700, seed=1, wide=0):
    rng = np.random.default_rng(seed)
    columns = {"loss": rng.normal(size=rows), "member": rng.random(rows) < 0.5}
    words = np.array(["train", "test"])[columns["member"].astype(int)]
    columns |= {"kept": pa.array(words).dictionary_encode()}
    return pa.table(columns | {f"x{at}": rng.normal(size=rows) for at in range(wide)})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(store, "_PAUSES", (0.0, 0.0, 0.0))


def fill(folder):
    """Write a data set of all kinds of parts."""
    for member in (0, 1):
        place = folder / f"set/member={member}"
        place.mkdir(parents=True)
        for at in range(2):
            table = scores_table(seed=2 * member + at).select(["loss"])
            pq.write_table(table, place / f"part-{at}.parquet", row_group_size=150)
        packed = gzip.compress(b"other,loss\n1,3.5\n")
        for name, data in (("part-9.csv", b"loss\n1.5\n2.5\n"), ("part 10é.csv.gz", packed)):
            (place / name).write_bytes(data)
        for name in ("_SUCCESS", ".part-9.csv.crc"):
            (place / name).write_bytes(b"crc")
    (folder / "one.csv").write_bytes(DATA)
    pq.write_table(scores_table(), folder / "one.parquet", row_group_size=300)
    return folder


@pytest.fixture
def s3(bucket, tmp_path):
    """The same data set on disk and in a bucket."""
    folder = fill(tmp_path / "here")
    return str(folder), bucket.put_tree(folder, "some/where")


@pytest.fixture
def web(website):
    """The same data set on disk and on a web server."""
    fill(website.folder)
    return str(website.folder), website.url


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """The same data set on disk and in fsspec's memory."""
    monkeypatch.setenv("MIPAUDIT_ALLOW_SCHEME", "sftp memory")
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    folder = fill(tmp_path / "here")
    system = fsspec.filesystem("memory")
    system.put(str(folder), "/some/where", recursive=True)
    yield str(folder), "memory://some/where"
    system.rm("/some", recursive=True)


@pytest.fixture
def gcs(google):
    """The same data set on disk and in Google Cloud Storage."""
    fill(google)
    return str(google), "gs://bucket"


@pytest.fixture(params=["s3", "gcs", "memory", "web"])
def places(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["s3", "gcs", "memory"])
def listed(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No variable of any store is set."""
    clear_environment(monkeypatch, tmp_path)


def test_the_same_rows_and_bytes_as_from_files(read, fails, places):
    """In any order of seeking and reading, also beyond the end; also sent to another process."""
    here, there = places
    for spec in ("/one.csv", "/one.parquet"):
        assert read(there + spec) == read(here + spec)
    data = Path(here, "one.parquet").read_bytes()
    rng = np.random.default_rng(0)
    for place in (here, there):
        with opened(f"{place}/one.parquet") as source:
            blob = source.opened.parts[0].blob
            again = pickle.loads(pickle.dumps(blob))  # noqa: S301 - our own
            assert (again.name, again.size, again.changed()) == (blob.name, blob.size, False)
            with again.open() as one:
                assert one.read() == data
            for reader in (blob.open(), blob.open_ranges()):
                with reader:
                    for _ in range(60):
                        if rng.random() < 0.4:
                            reader.seek(int(rng.integers(len(data) + 10)))
                        at, size = reader.tell(), int(rng.integers(1, 900))
                        assert reader.read(size) == data[at : at + size]
                    reader.seek(-5, 2)
                    assert reader.read() == data[-5:]
                    assert reader.read(3) == b""
    fails("no_such_file", f"{there}/none.csv")
    error = fails("same_file", members=f"{there}/one.csv", holdout=f"{there}/one.csv")
    assert "the same file is given as members and holdout" in error.message


def test_the_same_parts_as_from_files(read, fails, listed, monkeypatch):
    here, there = listed
    for spec in ("/set/", "/set/member=*/part-*.parquet", "/**/part*"):
        assert read(there + spec) == read(here + spec)
    # What is far away is not read once more to see whether its files are of several models.
    assert read(f"{here}/one.*").findings == [*read(f"{there}/one.*").findings, "files_as_one"]
    found = [
        read(members=f"{one}/set/member=1/", holdout=f"{two}/set/member=0/*.parquet")
        for one, two in ((here, here), (there, there), (here, there))
    ]
    assert found[0] == found[1] == found[2]
    fails("no_parts", f"{there}/no*.csv")
    assert "hidden files" in fails("no_parts", f"{there}/set/member=1/.p*").message
    for size in (1 << 30, 10):
        monkeypatch.setattr(blobs, "HASHED_WHOLE", size)
        found = []
        for place in listed:
            with opened(f"{place}/set/") as source:
                files = source.inputs()
            told = [(one.rows, one.bytes, one.sha256, one.fingerprint) for one in files]
            found.append((told, [one.name.rpartition("/set/")[2] for one in files]))
        assert found[0] == found[1]


@pytest.mark.parametrize("spec", ["", "/", "/set/", "/set/*.csv", "/one.[cp]*", "/set/?a=1"])
def test_parts_on_the_web_are_named(fails, web, website, spec):
    _, there = web
    assert "Copy the files here" in fails("web_folder", there + spec).hint
    assert website.asked == []
    parts = (f"{there}/one.csv", f"{there}/one.parquet")
    with opened(parts) as source:
        assert tuple(one.name for one in source.inputs()) == parts


def test_objects_may_be_more_than_are_kept_open(read, s3, monkeypatch):
    monkeypatch.setattr(cloud, "_KEPT_OPEN", 1)
    here, there = s3
    assert read(f"{there}/set/") == read(f"{here}/set/")


def test_a_narrow_read_of_a_wide_file_moves_a_fraction(website):
    table = scores_table(rows=20_000, wide=40)
    pq.write_table(table, website.folder / "wide.parquet", row_group_size=5000)
    size = (website.folder / "wide.parquet").stat().st_size
    with opened(f"{website.url}/wide.parquet", score_columns=("loss",)) as source:
        website.asked.clear()
        before = website.sent
        rows = sum(rows.member.size for part in source.partitions() for rows in part.batches())
    assert rows == 20_000
    assert before < size / 15
    # One request for both columns of a row group, which lie side by side.
    assert len(website.asked) == 4
    assert website.sent - before < size / 25


def test_csv_is_read_in_blocks_that_grow(website):
    rows = "".join(f"{at % 2},{at}.5\n" for at in range(700_000))
    (website.folder / "long.csv").write_text("member,loss\n" + rows, encoding="utf-8")
    with opened(f"{website.url}/long.csv") as source:
        assert source.rows_hint == 700_000
    ranges = [asked.removeprefix("bytes=").split("-") for *_, asked in website.asked if asked]
    assert max(int(last) - int(first) for first, last in ranges) <= 4 << 20
    assert len(ranges) < 25


@pytest.mark.parametrize("kind", ["tmp_path", "bucket", "website"])
def test_a_change_is_noticed(request, kind):
    place = request.getfixturevalue(kind)
    if kind == "bucket":
        spec, put = f"s3://{place.name}/x.csv", lambda data: place.put("x.csv", data)
    else:
        folder = getattr(place, "folder", place)
        spec, put = f"{getattr(place, 'url', folder)}/x.csv", (folder / "x.csv").write_bytes
    put(DATA)
    with opened(spec) as source:
        source.opened.check_unchanged()
        put(DATA.replace(b"0.5", b"0.7"))
        refused("input_changed", source.opened.check_unchanged)


# --- servers that fail, lead elsewhere, or refuse


def test_a_server_that_falls_silent(fails, monkeypatch):
    """It takes the connection and says nothing: one wait, one error, no second try."""
    monkeypatch.setenv("MIPAUDIT_STORE_TIMEOUT", "0.3")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        error = fails("no_network", f"http://127.0.0.1:{silent.getsockname()[1]}/x.csv")
        assert time.monotonic() - started < 3
    assert "--store-timeout" in error.hint


@pytest.mark.parametrize("stamps", [{"ETag"}, set()], ids=["in parts", "at once"])
def test_a_server_that_sends_a_byte_now_and_then(read, fails, web, website, monkeypatch, stamps):
    """It is never silent; a body that comes as slowly and is short is read all the same."""
    here, there = web
    monkeypatch.setattr(web_server, "SECONDS", 0.3)
    website.stamps, website.pace = stamps, 0.02
    started = time.monotonic()
    assert fails("slow_store", f"{there}/one.csv").hint
    assert time.monotonic() - started < 3
    monkeypatch.setattr(web_server, "SLOWEST", 20)
    assert read(f"{there}/one.csv") == read(f"{here}/one.csv")


@pytest.fixture
def named(monkeypatch):
    """Let names that end in .example be this machine, and let nothing be told yet."""

    def found(host, *rest, **more):
        return resolve("127.0.0.1" if str(host).endswith(".example") else host, *rest, **more)

    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", found)
    monkeypatch.setattr(web_server, "_TOLD", set())


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "a.localhost.", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"]
)
def test_a_public_server_leads_to_no_address_within(fails, website, named, web, host):
    port = urlsplit(website.url).port
    website.redirects["/away.csv"] = f"http://{host}:{port}/one.csv"
    error = fails("redirect", f"http://scores.example:{port}/away.csv")
    assert "of this machine or of a private network" in error.message
    assert {path for _, path, _ in website.asked} == {"/away.csv"}


def test_that_a_server_leads_to_another_host_is_told_once(read, website, named, web, capsys):
    port = urlsplit(website.url).port
    other = f"http://other.example:{port}"
    website.redirects |= {"/away.csv": f"{other}/more.csv", "/more.csv": f"{other}/one.csv"}
    website.redirects["/within.csv"] = "/one.csv"
    wanted = read(f"{web[0]}/one.csv")
    assert read(f"http://scores.example:{port}/away.csv") == wanted
    said = "http://scores.example redirects to http://other.example.\n"
    assert capsys.readouterr().err == said
    assert read(f"{website.url}/within.csv") == wanted
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("source", "target", "refused"),
    [
        ("https://a.example/x", "http://a.example/x", True),
        ("https://a.example/x", "//b.example/x", False),
        ("http://a.example/x", "https://b.example/x", False),
        ("http://8.8.8.8/x", "http://10.0.0.1/x", True),
        ("http://a.example/x", "http://169.254.169.254/latest", True),
        ("http://a.example/x", "http://[fe80::1%25eth0]/x", True),
        ("http://a.example/x", "http://[fd00::1]/x", True),
        ("http://a.example/x", "http://0/x", True),
        ("http://a.example/x", "http://192.168.1.1.example/x", False),
        ("http://10.0.0.2/x", "http://10.0.0.1/x", False),
        ("http://localhost/x", "http://127.0.0.1/x", False),
    ],
)
def test_where_a_redirect_may_lead(source, target, refused):
    with pytest.raises(InputError) if refused else nullcontext():
        web_server._require_fit(URL(source), target)


def test_faults_that_pass_are_tried_again(read, web, website):
    here, there = web
    for failing in (1, 3):
        website.failing = failing
        assert read(f"{there}/one.parquet") == read(f"{here}/one.parquet")


def test_a_folder_that_cannot_be_listed_is_not_left_out(fails, memory, monkeypatch):
    from fsspec.implementations.memory import MemoryFileSystem

    _, there = memory
    listed = MemoryFileSystem.ls

    def ls(system, path, *arguments, **options):
        if path.endswith("member=1"):
            raise ConnectionError
        return listed(system, path, *arguments, **options)

    with monkeypatch.context() as cut:
        cut.setattr(MemoryFileSystem, "ls", ls)
        for spec in ("/set", "/**/part*"):
            assert fails("no_network", there + spec).message.startswith(there)


def read_all(part):
    part.load({"loss", "member"}, set())
    for piece in part.pieces():
        list(piece.chunks(("loss", "member"), 0))
    # A small CSV file is held as text from the start.
    part.blob.open().read()


@pytest.mark.parametrize("name", ["one.parquet", "one.csv", "long.csv"])
def test_a_store_that_fails_half_way(web, website, name):
    """One message of ours, not a damaged file and nothing of Arrow or pandas."""
    rows = "1,0.5\n0,1.5\n" * 500_000
    (website.folder / "long.csv").write_text("member,loss\n" + rows, encoding="utf-8")
    ((blob, _),) = find_blobs(f"{web[1]}/{name}")
    part = open_part(blob)
    website.status = 503
    refused("no_network", read_all, part)


def large_csv(website):
    """Put a file on the web of more bytes than arrive at once, every line of 8 bytes."""
    rows = "".join(f"{at % 2},{at % 100_000:05}\n" for at in range(200_000))
    (website.folder / "large.csv").write_text("member,score\n" + rows)


@pytest.mark.parametrize(
    ("name", "server", "code"),
    [
        *(("one", {"status": status}, "no_permission") for status in (401, 403)),
        ("one", {"status": 500}, "no_network"),
        ("one", {"status": 418}, "store_failed"),
        ("one", {"html": True}, "web_page"),
        ("large", {"ranges": False, "cut": True}, "no_network"),
    ],
)
def test_what_a_web_server_may_do_instead(fails, web, website, name, server, code):
    large_csv(website)
    vars(website).update(server)
    error = fails(code, f"{web[1]}/{name}.csv")
    assert error.message.startswith(web[1])
    assert error.hint is not None


@pytest.mark.parametrize(
    "server", [{"ranges": False}, {"stamps": {"Last-Modified"}}, {"stamps": {None}}]
)
@pytest.mark.parametrize("name", ["one.csv", "one.parquet", "large.csv"])
def test_a_file_that_cannot_be_read_by_parts_is_read_once(read, web, website, name, server):
    """A time of change in whole seconds shows no change within one; some send no ranges."""
    here, there = web
    large_csv(website)
    vars(website).update(server)
    assert read(f"{there}/{name}") == read(f"{here}/{name}")
    wholes = [path for method, path, asked in website.asked if method == "GET" and not asked]
    assert wholes == [f"/{name}"]


def test_a_store_that_does_not_answer(fails, bucket, monkeypatch):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{found.getsockname()[1]}"
    error = fails("no_network", f"{endpoint}/x.csv")
    assert error.message == f"{endpoint}/x.csv: the store cannot be reached, or does not answer."
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    error = fails("no_network", f"s3://{bucket.name}/x.csv")
    assert error.message.startswith(f"s3://{bucket.name}/x.csv: the store cannot be reached")
    assert "AWS_ENDPOINT_URL" in error.hint


# --- addresses, and what may be secret in them


def test_an_address_may_be_signed(read, fails, web, website):
    here, there = web
    found = read(f"{there}/one.csv?X-Signature={HUSH}%2F1")
    assert found == read(f"{here}/one.csv")
    assert website.asked[-1][1] == f"/one.csv?X-Signature={HUSH}%2F1"
    with opened(f"{there}/one.csv?sig={HUSH}") as source:
        (one,) = source.inputs()
        assert one.name == f"{there}/one.csv"
        assert HUSH not in repr(source.opened.parts[0].blob)
    signed = there.replace("//", f"//user:{HUSH}@") + f"/none.csv?sig={HUSH}"
    assert fails("no_such_file", signed).message == f"There is no file {there}/none.csv."
    for path in (f"{HUSH}T0ken/one.csv", "share/9f8a7b6c5d4e/x.csv", "token/hush/x.csv"):
        message = fails("no_such_file", f"{there}/{path}").message
        assert not [secret for secret in (HUSH, "9f8a7b", "hush") if secret in message]
        assert message.startswith(f"There is no file {there}/")
    # A query may choose the file.
    sides = {"members": f"{there}/one.csv?id=1", "holdout": f"{there}/one.csv?id=2"}
    assert len(read(**sides).member) == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:pw@host/a/b.csv?sig=1#x", "https://host/a/b.csv"),
        ("sftp://user:pw@host/x.csv", "sftp://host/x.csv"),
        ("https://host/s3cr3t/b.csv", "https://host/~ccf09e/b.csv"),
        ("https://host/token/hush/b.csv", "https://host/~ae33c8/~db1f7b/b.csv"),
        *(
            (plain, plain)
            for plain in (
                *("s3://bucket/what?.csv", "abfs://c@account.dfs.core.windows.net/x"),
                *("C:/data/x?.csv", "scores = a@b?c"),
                "https://host/2024-01/member=1/part-00.csv",
            )
        ),
    ],
)
def test_addresses_without_what_can_be_secret(text, shown):
    assert public_address(text) == plain_value(text) == shown


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        *(
            (f"{address}/x.csv", "scheme_not_allowed")
            for address in (
                *("nobody://knows", "hdfs://user:secret@host", "FTP://user:secret@host"),
                *("github://someone:secret@main", "reference:/"),
            )
        ),
        ("s3://key:secret@bucket/x.csv", "credentials_in_address"),
        *(("s3://", "empty_path"), ("https:///x.csv", "empty_path")),
        *(("az://container/x.csv", "no_account"), ("file://elsewhere/x.csv", "uri")),
    ],
)
def test_addresses_that_mean_nothing(fails, bare, spec, code):
    assert "secret" not in str(fails(code, spec))


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        *(("STORE_TIMEOUT", text) for text in ("0", "-1", "nan", "1e9", "soon")),
        ("ALLOW_SCHEME", "sftp://"),
    ],
)
def test_terms_that_are_none(fails, monkeypatch, variable, text):
    monkeypatch.setenv(f"MIPAUDIT_{variable}", text)
    fails(variable.lower(), "http://127.0.0.1:9/x.csv")


# --- credentials


def test_a_bucket_that_refuses(fails, website, monkeypatch):
    website.status = 403
    monkeypatch.setenv("AWS_ENDPOINT_URL", website.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAnobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", HUSH)
    for spec in ("s3://bucket/x.csv", "s3://bucket/*.csv"):
        error = fails("no_permission", spec)
        assert HUSH not in str(error)
        assert "--anonymous" in error.hint
    monkeypatch.setenv("MIPAUDIT_ANONYMOUS", "1")
    assert "--anonymous" in fails("no_permission", "s3://bucket/x.csv").hint


def test_a_public_bucket_is_read_where_it_is_asked_for(read, s3, monkeypatch):
    here, there = s3
    tried, make = [], cloud._s3
    monkeypatch.setattr(
        cloud, "_s3", lambda address: tried.append(store.anonymous()) or make(address)
    )
    assert read(f"{there}/one.csv") == read(f"{here}/one.csv")
    monkeypatch.setenv("MIPAUDIT_ANONYMOUS", "1")
    assert read(f"{there}/one.csv") == read(f"{here}/one.csv")
    assert tried == [False, True]


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("s3://bucket/x.csv", "AWS_ACCESS_KEY_ID"),
        ("gs://bucket/x.csv", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("abfs://c@account.dfs.core.windows.net/x.csv", "AZURE_STORAGE_KEY"),
    ],
)
def test_without_credentials_nothing_is_asked(fails, monkeypatch, bare, spec, variable):
    """A machine whose cloud says nothing of a role has none, and that is known in seconds."""
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(cloud, "_ROLES_HOST", f"127.0.0.1:{silent.getsockname()[1]}")
        started = time.monotonic()
        error = fails("no_credentials", spec)
        assert time.monotonic() - started < 5
    assert error.message == f"{spec.removesuffix('x.csv')}: no credentials were found."
    assert "--anonymous" in error.hint
    assert variable in error.hint


def test_a_machine_of_the_cloud_may_have_a_role(website, monkeypatch):
    """It answers the question of its own cloud; that of Amazon may want a token first."""
    monkeypatch.setattr(cloud, "_ROLES_HOST", website.url.removeprefix("http://"))
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    for status, asked in ((404, "gs"), (401, "s3"), (401, "gs")):
        website.status = status
        assert cloud._has_role(asked) == (status == 401)
    assert cloud.cloud_store(parse_address("gs://bucket/x.csv")) is not None
    paths = ["/computeMetadata/v1/", "/latest/meta-data/"]
    assert [path for _, path, _ in website.asked][:2] == paths
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert not cloud._has_role("s3")


CONNECTION = "AccountName=three;AccountKey=a2V5=="


@pytest.mark.parametrize(
    ("spec", "variables", "account"),
    [
        ("az://c/x", {"ACCOUNT": "one"}, "one"),
        ("abfs://c@two.dfs.core.windows.net/x", {}, "two"),
        ("abfss://c@two.dfs.core.windows.net/x", {"ACCOUNT": "one", "KEY": "a2V5"}, "two"),
        ("az://c/x", {"CONNECTION_STRING": CONNECTION}, "three"),
    ],
)
def test_accounts_of_azure(monkeypatch, bare, spec, variables, account):
    for name, value in variables.items():
        monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
    if not {"KEY", "CONNECTION_STRING"} & {*variables}:
        monkeypatch.setenv("MIPAUDIT_ANONYMOUS", "1")
    address = parse_address(spec)
    found = cloud.cloud_store(address)
    assert (found._root, cloud._account(address)) == ("c/", account)
    assert found._system.type_name == "abfs"
    assert "a2V5" not in address.name("x")


def test_a_store_without_its_library(fails, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("aiohttp"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    paths._store.cache_clear()
    monkeypatch.delitem(sys.modules, "mipaudit.data.files.web", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    error = fails("missing_extra", "https://example.org/x.csv")
    assert 'pip install "mipaudit[https]"' in error.hint


def test_standard_input_stays_in_its_process(monkeypatch):
    for size in (1 << 20, 4):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DATA)))
        monkeypatch.setattr("mipaudit.data.files.blob._IN_MEMORY", size)
        with opened("-") as source:
            error = refused("bound_to_process", pickle.dumps, source.opened.parts[0].blob)
            assert "Save it to a file" in error.hint
