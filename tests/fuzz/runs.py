"""Runs the program on many made inputs, in children of this process, and says what was wrong.

A case is made from its number alone, so that one is found again by it::

    python -m tests.fuzz.runs KIND FIRST COUNT    what came of them: codes, and what was wrong
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# What a run may take.
SECONDS: Final = 20
BYTES: Final = 1 << 30
# What all libraries take before there is any input.
_LOADED: Final = 300 << 20
_BATCH: Final = 250
ANSWERS: Final = frozenset({0, 1, 3})
_USAGE: Final = 2
# What the operating system, or the last line of defence, said.
_FAULTS: Final = frozenset({"internal_error", "out_of_memory", "system_error"})


class Case(NamedTuple):
    """An input, and what is done with it.

    Attributes:
        words: as typed, in the folder of the files.
        files: by name.
        secrets: values of the data, which no message may hold.
        outputs: what the words write.
    """

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    secrets: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("out",)


class Outcome(NamedTuple):
    """What came of a case.

    Attributes:
        number: of the case.
        status: exit code, or minus the signal that ended the child.
        code: of the error, empty where there is an answer.
        wrong: what may not be; empty if nothing.
    """

    number: int
    status: int
    code: str
    wrong: str


class Kind(NamedTuple):
    """Inputs of one grammar.

    Attributes:
        make: a case, from what draws it.
        unread: codes of errors with which an input is refused before anything is done with it:
            it is not of its format.
    """

    make: Callable[[random.Random], Case]
    unread: frozenset[str]

    def is_past_the_parser(self, one: Outcome) -> bool:
        """Tell whether an input was of its format, so that the command set to work."""
        return one.status in ANSWERS or (one.status == _USAGE and one.code not in self.unread)


def case_of(name: str, kind: Kind, seed: int, number: int) -> Case:
    """Return the case of that number."""
    return kind.make(random.Random(f"{name} {seed} {number}"))  # noqa: S311 - no secret


def outcomes(cases: Callable[[int], Case], numbers: range, folder: Path) -> Iterator[Outcome]:
    """Yield what comes of each case.

    Args:
        cases: returns the case of a number.
        numbers: of the cases.
        folder: an empty one, to run in.
    """
    at = numbers.start
    while at < numbers.stop:
        wanted = range(at, min(at + _BATCH, numbers.stop))
        for one in _batch(cases, wanted, folder):
            yield one
            at = one.number + 1


def _batch(cases: Callable[[int], Case], numbers: range, folder: Path) -> Iterator[Outcome]:
    """Yield what comes of the first cases, up to one that ends the child."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            _in_child(cases, numbers, folder, writing)
        finally:
            os._exit(0)
    os.close(writing)
    at = numbers.start
    with os.fdopen(reading, encoding="utf-8") as lines:
        for line in lines:
            found = Outcome(*json.loads(line))
            at = found.number + 1
            yield found
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended and at < numbers.stop:
        yield Outcome(at, ended, "", _ending(ended))


def _ending(status: int) -> str:
    if status == -signal.SIGALRM:
        return f"longer than {SECONDS} s"
    return f"the process ended with {status}"


def _in_child(cases: Callable[[int], Case], numbers: range, folder: Path, answers: int) -> None:
    faulthandler.disable()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    room = _virtual() + BYTES + _LOADED
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    taken = _most()
    failures = _watched_failures()
    os.chdir(folder)
    for number in numbers:
        case = cases(number)
        clear(folder)
        for name, data in case.files.items():
            (folder / name).write_bytes(data)
        failures.clear()
        signal.alarm(SECONDS)
        status, said = _run(case.words)
        signal.alarm(0)
        code, place = failures[-1] if failures else ("", "")
        wrong = _wrong(case, status, code, said, folder)
        wrong += "".join(place.splitlines(keepends=True)[-3:]) if wrong else ""
        if _most() - taken > BYTES - _LOADED:
            wrong, taken = wrong or "more than 1 GiB", _most()
        line = json.dumps([number, status, code, wrong]) + "\n"
        os.write(answers, line.encode())


def _run(words: tuple[str, ...]) -> tuple[int, str]:
    from mipaudit.cli.app import run

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        sys.stdout = sys.stderr = said
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
        status = run(words)
        said.flush()
        said.seek(0)
        return status, said.read()


def _watched_failures() -> list[tuple[str, str]]:
    """Return the list to which each error that is shown is added: its code, where a bug is."""
    from mipaudit.cli import failure

    found: list[tuple[str, str]] = []
    show = failure.show

    def watched(one: Any, style: Any) -> None:
        found.append((one.code, one.place or ""))
        show(one, style)

    failure.show = watched
    return found


def _wrong(case: Case, status: int, code: str, said: str, folder: Path) -> str:
    """Return what may not be, in the order of how bad it is."""
    if status not in {*ANSWERS, _USAGE} or code in _FAULTS:
        return f"exit code {status}, {code}: {said[:200]}"
    told = [one for one in case.secrets if one in said]
    if told and status == _USAGE:
        return f"a value of the data is told: {told[0]}"
    digests = {f"{name}.sha256" for name in case.outputs}
    there = {path.name for path in folder.iterdir()}
    strays = there - {*case.files, *case.outputs, *digests}
    if strays:
        return f"left behind: {sorted(strays)}"
    made = there.intersection(case.outputs) - {*case.files}
    if status == _USAGE and made:
        return f"written with exit code {status}: {sorted(made)}"
    return "; ".join(_half_written(folder, name) for name in sorted(made) if name)


def _half_written(folder: Path, name: str) -> str:
    digest = folder / f"{name}.sha256"
    whole = sha256((folder / name).read_bytes()).hexdigest()
    if digest.exists() and whole not in digest.read_text(encoding="utf-8"):
        return f"{name} is not what its digest says"
    return ""


def clear(folder: Path) -> None:
    """Leave nothing in a folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _virtual() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


def main(name: str, first: str, count: str) -> None:
    """Print what comes of some cases."""
    from tests.fuzz.grammars import KINDS
    from tests.fuzz.mutation import SEED

    kind, numbers = KINDS[name], range(int(first), int(first) + int(count))
    kind.make(random.Random(0))  # loads what is loaded once  # noqa: S311 - no secret
    tally: Counter[str] = Counter()
    past, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for one in outcomes(lambda at: case_of(name, kind, SEED, at), numbers, Path(folder)):
            tally[f"{one.status} {one.code}"] += 1
            past += kind.is_past_the_parser(one)
            if one.wrong:
                words = " ".join(case_of(name, kind, SEED, one.number).words)
                sys.stdout.write(f"{one.number}: {words}: {one.wrong}\n")
    took = (time.monotonic() - began) / len(numbers)
    sys.stdout.write(f"{tally.most_common()}\n{past / len(numbers):.1%} past the parser, ")
    sys.stdout.write(f"{1000 * took:.1f} ms each\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
