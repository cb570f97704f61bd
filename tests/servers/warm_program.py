"""Runs ``mipaudit`` in copies of a process that has all loaded. Run as: warm_program.py SOCKET."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys

from mipaudit.cli.app import main, run
from tests.places import ROOT

# A program for the path: hands its words, its folder, its variables and its open files over.
CLIENT = """
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv.pop(1))
socket.send_fds(server, [b"."], [0, 1, 2])
server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
server.shutdown(socket.SHUT_WR)
sys.exit(server.recv(1)[0])
"""


def serve(path):
    """Answer clients until whoever started this has gone, or closes its standard input."""
    for command in ("check", "estimate"):  # most of what a run loads
        run((command, str(ROOT / "sample_data" / "leaky.parquet"), "-q", "-o", os.devnull))
    # Nobody waits for a copy but its client.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while select.select([server, sys.stdin], [], [])[0] == [server]:
            connection, _ = server.accept()
            if not os.fork():
                answer(connection)
            connection.close()


def answer(connection):
    """Run what a client asks, as if it were the client; end with this process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as asked:
        words, folder, environment = json.load(asked)
    for at, descriptor in enumerate(descriptors):
        os.dup2(descriptor, at)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        connection.send(bytes([end.code]))
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
