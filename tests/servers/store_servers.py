"""Stores of objects on this machine: S3 by moto, a web server by the standard library."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAnobody", "AWS_SECRET_ACCESS_KEY": "S3CRET"}
_STORES = ("AWS_", "AZURE_", "GOOGLE_", "STORAGE_")


class QuietServer(ThreadingHTTPServer):
    """Says nothing of readers that go away: standard error is the program's, in one process."""

    def handle_error(self, request, client_address):
        pass


class Bucket:
    """One bucket of a local S3 server."""

    def __init__(self, endpoint, name):
        from pyarrow.fs import S3FileSystem

        self.endpoint, self.name = endpoint, name
        self.environment = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", **KEYS}
        self._system = S3FileSystem(
            access_key=KEYS["AWS_ACCESS_KEY_ID"],
            secret_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            region="us-east-1",
            endpoint_override=endpoint,
            allow_bucket_creation=True,
        )
        self._system.create_dir(name)

    def put(self, key, data):
        with self._system.open_output_stream(f"{self.name}/{key}", compression=None) as stream:
            stream.write(data)
        return f"s3://{self.name}/{key}"

    def put_tree(self, folder, prefix):
        """Copy a local folder to keys that begin with ``prefix``."""
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder)}", path.read_bytes())
        return f"s3://{self.name}/{prefix}"


@pytest.fixture(scope="session")
def s3_server():
    """The address of a local S3 server."""
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture
def bucket(s3_server, monkeypatch, tmp_path):
    """An empty bucket, and an environment that leads to it."""
    found = Bucket(s3_server, f"bucket-{os.urandom(6).hex()}")
    clear_environment(monkeypatch, tmp_path)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def clear_environment(monkeypatch, home):
    """Leave no credentials, nor any proxy between."""
    for name in [*os.environ]:
        if name.startswith(_STORES) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


class WebSite:
    """A folder on the web: what was asked of it, and what it refuses.

    ``failing`` answers of status 503 come first; ``status`` is given to everything, if not None;
    ``ranges`` tells whether parts are sent; ``cut``, whether the connection ends halfway.
    """

    def __init__(self, folder):
        self.folder = folder
        self.asked = []
        self.sent = 0
        self.failing = 0
        self.status = None
        self.ranges = True
        self.cut = False
        self.html = False
        self.pace = None  # seconds before each byte of a body
        self.redirects = {}
        self.stamps = {"ETag", "Last-Modified"}
        site = self

        class Handler(_Handler):
            website = site

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(folder))

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are sent apart: the second would wait for the first to be confirmed.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send_head(self):
        site = self.website
        site.asked.append((self.command, self.path, self.headers.get("Range")))
        if site.failing > 0:
            site.failing -= 1
            return self.send_error(503)
        if site.status is not None:
            return self.send_error(site.status)
        if self.path in site.redirects:
            self.send_response(302)
            self.send_header("Location", site.redirects[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        path = Path(self.translate_path(urlsplit(self.path).path))
        if not path.is_file():
            return super().send_head()
        return self._file(path)

    def _file(self, path):
        data = path.read_bytes()
        whole = len(data)
        start, stop = 0, whole
        asked = self.headers.get("Range")
        partial = self.website.ranges and asked is not None
        if partial:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last) + 1, whole)
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{whole}")
        self.send_header("Content-Length", str(stop - start))
        self.send_header("Content-Type", "text/html" if self.website.html else "text/plain")
        state = path.stat()
        if "Last-Modified" in self.website.stamps:
            self.send_header("Last-Modified", formatdate(state.st_mtime, usegmt=True))
        if "ETag" in self.website.stamps:
            self.send_header("ETag", f'"{state.st_mtime_ns}"')
        self.end_headers()
        if self.command == "GET":
            self.website.sent += stop - start
            if self.website.cut:
                self.close_connection = True
                stop = data.index(b"\n", (start + stop) // 2) + 1
        return io.BytesIO(data[start:stop])

    def copyfile(self, source, outputfile):
        if self.website.pace is None:
            super().copyfile(source, outputfile)
            return
        while byte := source.read(1):
            outputfile.write(byte)
            time.sleep(self.website.pace)


@pytest.fixture
def website(tmp_path, monkeypatch):
    """A web server that sends parts of files; ``folder`` holds them."""
    clear_environment(monkeypatch, tmp_path)
    folder = tmp_path / "site"
    folder.mkdir()
    site = WebSite(folder)
    yield site
    site.close()


@pytest.fixture
def google(tmp_path, monkeypatch):
    """A folder whose files are the objects of every bucket of a local Google Cloud Storage.

    It runs in a process of its own: Arrow holds the interpreter while it waits for an answer.
    """
    clear_environment(monkeypatch, tmp_path)
    folder = tmp_path / "google"
    folder.mkdir()
    script = str(Path(__file__).with_name("google_server.py"))
    with subprocess.Popen(
        [sys.executable, script, str(folder)], stdout=subprocess.PIPE, text=True
    ) as server:
        port = next(line.split()[1] for line in server.stdout if line.startswith("port "))
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        yield folder
        server.terminate()
