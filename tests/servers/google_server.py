"""The little of Google Cloud Storage that reading needs. Run as: google_server.py FOLDER."""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

ROOT = Path(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are sent apart: the second would wait for the first to be confirmed.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        found = re.fullmatch(r"/storage/v1/b/[^/]+/o(?:/(.+))?", parts.path)
        if found is None:
            return self.answer(404, b"{}")
        if found[1] is None:
            return self.answer(200, listing(query.get("prefix", ""), query.get("delimiter")))
        path = ROOT / unquote(found[1])
        if not path.is_file():
            return self.answer(404, b'{"error": {"code": 404, "message": "No such object"}}')
        if query.get("alt") != "media":
            return self.answer(200, json.dumps(facts(path)).encode())
        return self.part(path.read_bytes())

    def part(self, data):
        asked = self.headers.get("Range")
        if asked is None:
            return self.answer(200, data)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start = int(first)
        stop = min(int(last) + 1, len(data)) if last else len(data)
        span = {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}"}
        return self.answer(206, data[start:stop], span)

    def answer(self, status, body, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def facts(path):
    state = path.stat()
    return {
        "name": str(path.relative_to(ROOT)),
        "bucket": "bucket",
        "size": str(state.st_size),
        "etag": str(state.st_mtime_ns),
        "generation": "5",
        "metageneration": "1",
        "updated": "2024-01-01T00:00:00Z",
        "timeCreated": "2024-01-01T00:00:00Z",
    }


def listing(prefix, delimiter):
    items, prefixes = [], set()
    for path in sorted(ROOT.rglob("*")):
        name = str(path.relative_to(ROOT))
        if not path.is_file() or not name.startswith(prefix):
            continue
        rest = name[len(prefix) :]
        if delimiter and delimiter in rest:
            prefixes.add(prefix + rest.partition(delimiter)[0] + delimiter)
        else:
            items.append(facts(path))
    return json.dumps({"items": items, "prefixes": sorted(prefixes)}).encode()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"port {server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
