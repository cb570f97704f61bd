"""Where a report goes: standard output, or a file that is whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Self, cast

from mipaudit.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_LONGEST_STEM: Final = 100
_LONGEST_NAME: Final = 200
_MODE: Final = 0o666
_PRIVATE_MODE: Final = 0o600
_OWN_FILES: Final = Path("/proc/self/fd")
DIGEST_SUFFIX: Final = ".sha256"


class Destination(NamedTuple):
    """A checked place to write to.

    Attributes:
        path: the file to replace, symbolic links followed; None is standard output.
        atomic: whether the file is replaced whole (a regular file), rather than
            written through (a device or a named pipe).
        option: what the user named it with.
        name: of the file, as the user typed it.
        digest: the file beside it for its sha256; None for no such file.
        private: whether a new file can be read by its owner alone.
    """

    path: Path | None
    atomic: bool
    option: str = "`output`"
    name: str = ""
    digest: Destination | None = None
    private: bool = False

    @classmethod
    def open(
        cls,
        name: str | None,
        *,
        inputs: Iterable[str | None] = (),
        option: str = "`output`",
        sha256: bool = False,
        private: bool = False,
    ) -> Self:
        """Check that the report can be written, before anything is computed.

        Args:
            name: the file; None or ``"-"`` is standard output.
            inputs: what is read, as the user typed it: files, directories, globs, ``-``.
                None of it may be overwritten, and nothing may join it.
            option: what the user named it with.
            sha256: whether the sha256 of a regular file is written beside it, into a file
                of the same name and ``.sha256``.
            private: the file holds what belongs to persons; its owner alone may read it,
                unless a file of other rights is there already.

        Raises:
            OutputError: the place cannot be written to.
            UsageError: the file is one of the inputs, or would be at the next run.
        """
        if name is None or name == "-":
            _require_stdout()
            return cls(path=None, atomic=False)
        # Here, since most answers go to standard output.
        from mipaudit.output.input_guard import refuse_inputs

        try:
            path = Path(name).resolve()
            if path.is_symlink():  # from Python 3.13 on, a ring of links is no error above
                path.stat()
            refuse_inputs(Path(name), inputs, option)
            atomic = _probe(path)
            digest = None
            if sha256 and atomic:
                digest = cls.open(f"{name}{DIGEST_SUFFIX}", inputs=inputs, option=option)
            return cls(
                path=path, atomic=atomic, option=option, name=name, digest=digest, private=private
            )
        except (OSError, ValueError, RuntimeError) as error:
            # ValueError: a NUL in the name. RuntimeError: links that go round in a ring.
            raise _refused(error, name, option) from None

    @property
    def leaves_stdout(self) -> bool:
        """Tell whether standard output is there and free; a device may be it by another name."""
        if self.path is None or not self.atomic or sys.stdout is None:
            return False
        try:
            return not os.path.samestat(self.path.stat(), os.fstat(sys.stdout.fileno()))
        except (OSError, ValueError):
            return True  # the file is not there yet, or standard output is none of the system

    def write(self, data: bytes) -> None:
        """Write all of ``data``, or leave a regular file as it was.

        Raises:
            OutputError: the system refused.
            BrokenPipeError: the reader has gone.
        """
        if self.digest is not None:
            line = digest_line(Path(self.name).name, data)
            # In this order, and the old digest away first: whenever the run is killed, a
            # digest that is there is that of the file that is there.
            parts = [(self._replace(digest=None), data), (self.digest, line)]
            write_together(parts, outdated=self.digest.path)
            return
        with self.stream() as file:
            file.write(data)

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Yield a binary file; a regular file appears when all of it is written.

        Raises:
            OutputError: the system refused.
            BrokenPipeError: the reader has gone.
        """
        try:
            if self.path is None:
                sys.stdout.flush()
                yield cast("BinaryIO", _Patient(sys.stdout.buffer))
                sys.stdout.buffer.flush()
            elif self.atomic:
                mode = _PRIVATE_MODE if self.private else _MODE
                with _staged(self.path, mode) as (file, beside):
                    yield file
                _take_place(beside, self.path)
            else:
                with self.path.open("wb") as file:
                    yield file
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _refused(error, self.name, self.option) from None


def write_together(
    parts: Iterable[tuple[Destination, bytes]], *, outdated: Path | None = None
) -> None:
    """Write several files, all of them or none.

    Each is first written in full beside its place; only then they take their places, in order.

    Args:
        parts: where to, and what.
        outdated: what must not be seen beside the new files: removed before the first takes
            its place, and there again if one cannot.

    Raises:
        OutputError: the system refused; regular files are as they were.
        BrokenPipeError: the reader of a pipe has gone.
    """
    staged: list[tuple[Path, Path]] = []
    name = ""
    try:
        for destination, data in parts:
            name = destination.name
            if destination.path is None or not destination.atomic:
                destination.write(data)
            else:
                staged.append((_stage(destination.path, data), destination.path))
        with _withdrawn(outdated):
            for beside, path in staged:
                name = str(path)
                beside.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refused(error, name) from None
    finally:
        for beside, _ in staged:
            beside.unlink(missing_ok=True)


@contextmanager
def _withdrawn(path: Path | None) -> Iterator[None]:
    """Remove a small file; put it back if what follows fails."""
    try:
        old = path.read_bytes() if path is not None else None
    except FileNotFoundError:
        old = None
    if path is None or old is None:
        yield
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    path.unlink()
    try:
        yield
    except BaseException:
        path.write_bytes(old)
        path.chmod(mode)
        raise


def _require_stdout() -> None:
    if sys.stdout is None:
        raise OutputError(
            "no_stdout", "Standard output is closed.", hint="Write to a file, with `output`."
        )


def _probe(path: Path) -> bool:
    """Check that ``path`` can be written to; tell whether it can be replaced whole."""
    try:
        mode = path.stat().st_mode  # a name that is too long is no error of `exists`
    except FileNotFoundError:
        pass
    else:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "")
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        if not stat.S_ISREG(mode):
            return False
    # Making a file is the only true test: permissions, quotas, read-only mounts.
    descriptor = _open_nameless(path.parent)
    if descriptor is not None:
        os.close(descriptor)
        return True
    beside = _beside(path)
    os.close(_create(beside))
    # It is removed at once, so that a killed run leaves nothing behind.
    beside.unlink()
    return True


def _stage(path: Path, data: bytes) -> Path:
    """Write a file that can take the place of ``path``; return where it is."""
    with _staged(path) as (file, beside):
        file.write(data)
    return beside


@contextmanager
def _staged(path: Path, mode: int = _MODE) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a file that can take the place of ``path`` when it is written, and where it is.

    Where the system can, it has no name until it is whole: of a run that is killed nothing
    is left behind.
    """
    beside = _beside(path)
    descriptor = _open_nameless(path.parent, mode)
    nameless = descriptor is not None
    if descriptor is None:
        descriptor = _create(beside, mode)
    try:
        with os.fdopen(descriptor, "w+b" if nameless else "wb") as file:
            yield file, beside
            file.flush()
            os.fsync(file.fileno())
            if path.exists() and hasattr(os, "fchmod"):  # Windows has it from Python 3.13 on
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            if nameless:
                _give_name(file, beside)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _take_place(beside: Path, path: Path) -> None:
    try:
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _beside(path: Path) -> Path:
    """Return a hidden name beside ``path`` that nobody uses."""
    return path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.urandom(6).hex()}.tmp")


def _create(beside: Path, mode: int = _MODE) -> int:
    # The mode less the umask, as any program would make the file.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(beside, flags, mode)


def _open_nameless(folder: Path, mode: int = _MODE) -> int | None:
    """Open a new file without a name in ``folder``, or return None where there are none."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not _OWN_FILES.is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_RDWR, mode)
    except OSError:
        # Not on this file system; what else is wrong shows when a named file is made.
        return None


def _give_name(file: BinaryIO, beside: Path) -> None:
    """Let a file without a name appear, whole."""
    descriptor = file.fileno()
    try:
        # Only with a directory's descriptor does the system follow the link to the open file.
        own = _OWN_FILES / str(descriptor)
        os.link(own, beside, src_dir_fd=descriptor, follow_symlinks=True)
    except OSError:
        # Some file systems have such files and cannot name them.
        import shutil

        file.seek(0)
        with os.fdopen(_create(beside, _PRIVATE_MODE), "wb") as copy:
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(descriptor).st_mode))
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())


class _Patient:
    """Writes all that it is given: with PYTHONUNBUFFERED standard output may take less."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes | memoryview) -> int:
        rest = memoryview(data)
        size = len(rest)
        while rest:
            written = self._stream.write(rest)
            if not written:
                raise BlockingIOError(errno.EAGAIN, "")
            rest = rest[written:]
        return size

    def flush(self) -> None:
        self._stream.flush()


def _refused(
    error: OSError | ValueError | RuntimeError, name: str, option: str = "`output`"
) -> OutputError:
    # Here, since most reports are written without it.
    from mipaudit.statements.text.printable_names import safe_name

    number = error.errno if isinstance(error, OSError) else errno.EINVAL
    reason = os.strerror(number or errno.EIO)
    what = f"The output {safe_name(name, longest=_LONGEST_NAME)}" if name else "The output"
    return OutputError(
        "unwritable_output",
        f"{what} cannot be written: {reason}.",
        hint=f"Choose another file for {option}, in a directory that exists and may be written to.",
    )


def digest_line(name: str, data: bytes) -> bytes:
    """Return the line for a file in the same folder.

    Args:
        name: of the file, without its folder.
        data: what the file holds.
    """
    from hashlib import sha256

    plain = os.fsencode(name)
    # A name that would break the line is escaped, and the line says so.
    escaped = plain.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    mark = b"" if escaped == plain else b"\\"
    return mark + sha256(data).hexdigest().encode() + b"  " + escaped + b"\n"
