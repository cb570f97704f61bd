"""Runs a command line within this process: a process of its own would load the libraries anew."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from contextvars import copy_context

from mipaudit.cli import app


def run_within(
    arguments,
    *,
    environment,
    folder,
    input=None,  # noqa: A002 - so subprocess names it
    stdin=None,
    text=True,
    timeout=60,
):
    """Run ``mipaudit ARGUMENTS``; return what ``subprocess.run`` would return of it.

    Args:
        arguments: the words after ``mipaudit``.
        environment: every variable that it sees.
        folder: where it stands.
        input: what comes out of the pipe that is its standard input.
        stdin: an open file in place of that.
        text: whether what it writes is returned as text.
        timeout: seconds after which it is broken off.

    Raises:
        TimeoutExpired: it took longer.
    """
    words = [os.fspath(word) for word in arguments]
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        _piped(input, stdin) as source,
    ):
        with (
            _environment(environment),
            contextlib.chdir(folder),
            _descriptors(source, out.fileno(), err.fileno()),
            _streams(),
            # The program sets the filters for itself, and forgets about garbage.
            warnings.catch_warnings(),
            _unfrozen(),
            _alarm(words, timeout),
        ):
            status = copy_context().run(app.run, words)
        stdout, stderr = _content(out, text=text), _content(err, text=text)
    return subprocess.CompletedProcess(["mipaudit", *words], status, stdout, stderr)


@contextlib.contextmanager
def _piped(given, stdin):
    """Yield the descriptor of standard input, None for the one that is there."""
    if given is None:
        yield None if stdin is None else stdin.fileno()
        return
    data = given.encode() if isinstance(given, str) else given
    reading, writing = os.pipe()

    def feed():
        # A reader that has enough closes its end.
        with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(data)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield reading
    finally:
        os.close(reading)
        feeder.join()


@contextlib.contextmanager
def _environment(wanted):
    before = dict(os.environ)
    try:
        _set_environment(wanted)
        yield
    finally:
        _set_environment(before)


def _set_environment(wanted):
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@contextlib.contextmanager
def _descriptors(*wanted):
    """Put open files in the place of the first descriptors: children see them too."""
    before = [os.dup(at) for at in range(len(wanted))]
    try:
        for at, descriptor in enumerate(wanted):
            if descriptor is not None:
                os.dup2(descriptor, at)
        yield
    finally:
        for at, descriptor in enumerate(before):
            os.dup2(descriptor, at)
            os.close(descriptor)


@contextlib.contextmanager
def _streams():
    """Open the streams over the descriptors as Python does when it starts."""
    before = sys.stdin, sys.stdout, sys.stderr
    try:
        with (
            os.fdopen(0, encoding="utf-8", closefd=False) as sys.stdin,
            os.fdopen(1, "w", encoding="utf-8", closefd=False) as sys.stdout,
            os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False) as sys.stderr,
        ):
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _unfrozen():
    freeze = gc.freeze
    gc.freeze = lambda: None
    try:
        yield
    finally:
        gc.freeze = freeze


@contextlib.contextmanager
def _alarm(words, timeout):
    late = subprocess.TimeoutExpired(["mipaudit", *words], timeout)
    rung = []

    def ring(*_):
        rung.append(True)
        raise late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if rung:
        # The program reports whatever it is ended by.
        raise late


def _content(file, *, text):
    file.seek(0)
    data = file.read()
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read() if text else data
