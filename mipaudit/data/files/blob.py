"""The bytes of one input, readable from the start as often as needed."""

from __future__ import annotations

import io
import os
import stat
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn, TypeVar

from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import InputFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from _typeshed import WriteableBuffer


ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

Format = Literal["csv", "gzip", "zstd", "parquet"]

# Characters of a path in a message.
LONGEST: Final = 400
# Above this size an input is told by its size and ends unless asked otherwise.
HASHED_WHOLE: Final = 64 << 20
_END: Final = 1 << 20
_SEEKING: Final = Lock()
_BLOCK: Final = 1 << 20
# Of a stream that is kept, at most.
_IN_MEMORY: Final = 4 << 20
# What is read ahead of a store.
AHEAD: Final = 4 << 20
# Inputs that are waited for at the same time.
_MANY: Final = 16
ZIP_MAGIC: Final = b"PK\x03\x04"
_ENCRYPTED_MAGIC: Final = b"PARE"
_MAGIC: Final[tuple[tuple[bytes, Format], ...]] = (
    (b"PAR1", "parquet"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


class Blob(ABC):
    """Bytes that can be opened again and again, from several threads.

    Attributes:
        name: what messages call it, already safe to print.
        size: bytes.
        identity: what no other file has; None where that is not known.
        remote: whether reading waits for a store.
        bound: whether this process alone can read it, as standard input; other blobs travel.
    """

    name: str
    size: int
    identity: object = None
    remote: ClassVar[bool] = False
    bound: ClassVar[bool] = False

    @abstractmethod
    def open(self) -> IO[bytes]:
        """Return a new reader at the start."""

    def open_ranges(self) -> IO[bytes] | io.RawIOBase:
        """Return a reader that reads nothing but what it is asked for."""
        return self.open()

    def changed(self) -> bool:
        """Tell whether the bytes may have changed since they were first seen."""
        return False

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Release what is held."""


@dataclass(frozen=True)
class FileBlob(Blob):
    """A file on disk, with the state in which it was found.

    Attributes:
        path: the file.
        modified: the time of its last change, in ns.
        identity: device and inode; None on another machine, which has others.
    """

    name: str
    path: Path
    size: int
    modified: int
    identity: tuple[int, int] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Travel with the whole path: another process may work in another folder."""
        return FileBlob, (self.name, self.path.absolute(), self.size, self.modified)

    def open(self) -> IO[bytes]:
        """Open the file anew.

        Raises:
            InputError: ``unreadable``: it is no longer there, or may no longer be read.
        """
        with _readable(self.name):
            return self.path.open("rb")

    def changed(self) -> bool:
        """Compare size, time of change, device and inode."""
        try:
            state = self.path.stat()
        except OSError:
            return True
        if (state.st_size, state.st_mtime_ns) != (self.size, self.modified):
            return True
        return self.identity not in {None, (state.st_dev, state.st_ino)}


def file_blob(path: Path) -> FileBlob | HeldBlob:
    """Return a file as it is, and what a pipe holds: that can be opened once only.

    Raises:
        InputError: ``unreadable``, or ``not_a_file``.
    """
    name = safe_name(str(path), longest=LONGEST)
    with _readable(name):
        state = path.stat()
        with path.open("rb") as stream:
            if stat.S_ISREG(state.st_mode):
                identity = (state.st_dev, state.st_ino)
                return FileBlob(name, path, state.st_size, state.st_mtime_ns, identity)
            if stat.S_ISFIFO(state.st_mode) or stream.isatty():
                return stream_blob(name, stream)
    raise InputError("not_a_file", f"{name}: not a file or a pipe.")


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say in our words what the system refuses."""
    try:
        yield
    except OSError as error:
        raise InputError("unreadable", f"{name}: cannot be read ({error.strerror}).") from None


@dataclass(frozen=True, eq=False)
class HeldBlob(Blob):
    """What came as a stream: in memory, or in an unlinked file that only its owner can read."""

    bound: ClassVar[bool] = True

    name: str
    size: int
    file: IO[bytes]

    def __reduce__(self) -> NoReturn:
        """Refuse to be sent to another process."""
        raise InputError(
            "bound_to_process",
            f"{self.name}: other processes cannot read it, because it is not a file.",
            "Save it to a file first.",
        )

    def open(self) -> IO[bytes]:
        """Return a reader with a position of its own."""
        return io.BufferedReader(PositionedReader(partial(read_at, self.file), self.size), _BLOCK)

    def close(self) -> None:
        """Give the space back."""
        self.file.close()


def stream_blob(name: str, stream: IO[bytes]) -> HeldBlob:
    """Return the rest of ``stream``: in memory when small, else in a temporary file."""
    import tempfile

    head = read_up_to(stream, _IN_MEMORY + 1)
    if len(head) <= _IN_MEMORY:
        return HeldBlob(name, len(head), io.BytesIO(head))
    # Not in a with statement: the blob owns it and closes it.
    file = tempfile.TemporaryFile(prefix="mipaudit-")  # noqa: SIM115
    size = file.write(head)
    while block := stream.read(_BLOCK):
        size += file.write(block)
    file.flush()
    return HeldBlob(name, size, file)


def read_at(file: IO[bytes], offset: int, size: int) -> bytes:
    """Return so many bytes from an offset on, even if others read the file."""
    if isinstance(file, io.BytesIO):
        return bytes(file.getbuffer()[offset : offset + size])
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), size, offset)
    with _SEEKING:  # Windows
        file.seek(offset)
        found = file.read(size)
        file.seek(0, os.SEEK_END)  # where more is written
        return found


class PositionedReader(io.RawIOBase):
    """Reads what others read as well, at a position of its own.

    Attributes:
        fetch: returns so many bytes from an offset on.
        size: of all of it.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], size: int) -> None:
        """Begin at the start."""
        self._fetch, self._size, self._at = fetch, size, 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go elsewhere."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readall(self) -> bytes:
        """Return the rest."""
        return self.read()

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes, or all that are left."""
        left = max(0, self._size - self._at)
        wanted = left if size < 0 else min(size, left)
        data = self._fetch(self._at, wanted) if wanted else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer, as far as there is something left."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


@contextmanager
def closed_on_error(held: Iterable[Any]) -> Iterator[None]:
    """Close what is held, blobs or parts, where what is done with them fails."""
    try:
        yield
    except BaseException:
        for one in held:
            one.close()
        raise


def each_at_once(
    work: Callable[[ItemT], ResultT], items: Sequence[ItemT], *, remote: bool
) -> list[ResultT]:
    """Return ``work`` of each item, in order; many at a time where each waits for a store."""
    if not remote or len(items) < 2:  # noqa: PLR2004
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(_MANY, len(items))) as pool:
        return list(pool.map(work, items))


def read_up_to(stream: IO[bytes] | io.RawIOBase, size: int) -> bytes:
    """Return ``size`` bytes, or all there are: a web server's stream gives what has arrived."""
    blocks: list[bytes] = []
    while size > 0 and (block := stream.read(size)):
        blocks.append(block)
        size -= len(block)
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def blob_format(blob: Blob) -> Format:
    """Tell the format by the first bytes.

    Raises:
        InputError: ``empty_file``, or ``encrypted_parquet``.
    """
    with blob.open_ranges() as stream:
        head = read_up_to(stream, 8)
    if not head:
        raise InputError("empty_file", f"{blob.name}: the file is empty.")
    if head.startswith(_ENCRYPTED_MAGIC):
        raise encrypted(blob.name)
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "csv")


def encrypted(name: str, column: str | None = None) -> InputError:
    """Return the error for a Parquet file, or a column of one, that takes a key to read."""
    what = "the Parquet file is" if column is None else f"column {quoted_name(column)} is"
    return InputError(
        "encrypted_parquet",
        f"{name}: {what} encrypted, and mipaudit cannot decrypt it.",
        "Write a decrypted copy of the columns to audit, where you may keep it.",
    )


def describe_blob(
    blob: Blob, rows: int, *, hash_all: bool, together: int | None = None
) -> InputFile:
    """Return how the report names ``blob``.

    Args:
        blob: the bytes.
        rows: in it.
        hash_all: sha256 whatever the size.
        together: bytes of all inputs of the run, this one among them; None for it alone.
    """
    if (blob.size if together is None else together) <= HASHED_WHOLE or hash_all:
        with blob.open() as stream:
            # Every reader of ours has what is asked for here, and IO does not say so.
            whole = file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
        return InputFile(name=blob.name, rows=rows, bytes=blob.size, sha256=whole)
    return InputFile(name=blob.name, rows=rows, bytes=blob.size, fingerprint=_hash_ends(blob))


def _hash_ends(blob: Blob) -> str:
    """Hash the size, the first MiB, and the last MiB or the whole Parquet footer."""
    with blob.open_ranges() as stream:
        head = stream.read(_END)
        stream.seek(-min(8, blob.size), os.SEEK_END)
        tail = stream.read(8)
        footer = int.from_bytes(tail[:4], "little") + 8 if tail[4:] == b"PAR1" else 0
        last = min(max(_END, footer), blob.size)
        stream.seek(-last, os.SEEK_END)
        digest = sha256(str(blob.size).encode() + b"\0" + head + stream.read(last))
    return f"size-and-ends:{digest.hexdigest()}"
