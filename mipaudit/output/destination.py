"""Where reports and files beside them go: standard output, or files whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, Self, cast

from mipaudit.errors import MipauditError, OutputError, UsageError
from mipaudit.output.staged_file import StagedFile, staged
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mipaudit.options.values import Given

_SHARED: Final = stat.S_ISVTX | stat.S_IWOTH
# As many as Linux follows.
_MOST_LINKS: Final = 40


def followed_path(name: str) -> Path:
    """Return the path that a name leads to, links followed; the file need not be there.

    In a folder where everybody may make files, and nobody may remove those of others, as /tmp,
    somebody may have laid a link there in the hope that we write through it. There only our own
    links count, and those of the folder's owner: the rule of Linux's ``protected_symlinks``,
    which is not in force everywhere, and not where a path is resolved before it is opened.

    Raises:
        OutputError: ``foreign_link``: it leads over another one.
        OSError: links that go round in a ring.
        ValueError: a NUL in the name.
    """
    path = Path(name).absolute()
    found, links = Path(path.anchor), 0
    left = [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        if part == os.pardir:
            found = found.parent
            continue
        try:
            target = (found / part).readlink()
        except OSError:  # no link, or not there
            found /= part
            continue
        # Looked at after it was read: nobody can put back one of ours.
        if not _may_lead(found / part):
            raise OutputError(
                "foreign_link",
                f"The output {safe_name(name, longest=_LONGEST_NAME)} is reached through a link "
                "that another user made in a shared folder.",
                "Remove the link, or choose another folder.",
            )
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "")
        if target.is_absolute():
            found = Path(target.anchor)
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return found


def _may_lead(link: Path) -> bool:
    folder = link.parent.stat()
    if folder.st_mode & _SHARED != _SHARED or not hasattr(os, "geteuid"):
        return True
    return link.lstat().st_uid in {os.geteuid(), folder.st_uid}


def refuse_inputs(output: Path, inputs: Iterable[str | None], option: str = "`output`") -> None:
    """Check that writing ``output`` changes no input, of this run or of the next.

    Args:
        output: the file, as the user typed it; it need not exist.
        inputs: what is read, as the user typed it: files, directories, globs, ``-``.
        option: what the user named the file with.

    Raises:
        UsageError: ``output_is_input`` or ``output_among_inputs``.
    """
    name, hint = safe_name(str(output), longest=_LONGEST_NAME), f"Choose another file for {option}."
    state = _state(output)
    # The link that is named, and the file that it leads to.
    places = {output.parent.resolve() / output.name, output.resolve()}
    for spec in filter(None, inputs):
        files = {place: _files(spec, place) for place in places}
        found = [_stdin_state()] if spec == "-" else map(_state, files[output.resolve()])
        if state and any(os.path.samestat(state, other) for other in filter(None, found)):
            said = f"The output {name} is one of the inputs."
            raise UsageError("output_is_input", said, hint)
        # What has no state is the planned file, which is not there yet.
        if any(_is_at(one, place) for place, read in files.items() for one in read):
            raise UsageError(
                "output_among_inputs",
                f"The output {name} would be among the inputs, so the next run would read it.",
                f"Choose another folder for {option}.",
            )


def _files(spec: str, planned: Path) -> list[Path]:
    """Return the files of an input, the planned one among them where it would be read."""
    from mipaudit.data.files.paths import LocalTree, local_files

    try:
        return [path for path, _ in local_files(spec, LocalTree(planned))]
    except (MipauditError, OSError, ValueError):
        # Reading it will fail with a better message, and nothing will be written.
        return []


def _is_at(path: Path, place: Path) -> bool:
    return path.name == place.name and path.parent.resolve() == place.parent


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _stdin_state() -> os.stat_result | None:
    try:
        state = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return None
    return state if stat.S_ISREG(state.st_mode) else None


_LONGEST_NAME: Final = 200
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
            private: the file holds what belongs to persons; its owner alone may read it. Of a
                file that is there already, the owner and the group keep their rights.

        Raises:
            OutputError: the place cannot be written to.
            UsageError: the file is one of the inputs, or would be at the next run.
        """
        if name is None or name == "-":
            _require_stdout()
            return cls(path=None, atomic=False)
        # Here, since most answers go to standard output.
        with _refusals(name, option):
            try:
                path = followed_path(name)
            except ValueError:  # such as a NUL in the name
                raise OSError(errno.EINVAL, "") from None
            refuse_inputs(Path(name), inputs, option)
            atomic = _probe(path)
        digest = None
        if sha256 and atomic:
            digest = cls.open(f"{name}{DIGEST_SUFFIX}", inputs=inputs, option=option)
        return cls(path, atomic, option, name, digest, private)

    @property
    def form(self) -> str:
        """The ending of the name, without its dot."""
        return PurePath(self.name).suffix.lower().removeprefix(".")

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

    def write_new(self, data: bytes) -> None:
        """Write all of ``data`` to a regular file that is not there yet, or nothing.

        Raises:
            FileExistsError: there is one by now.
            OutputError: the system refused.
        """
        if self.path is None or os.path.lexists(self.name):
            raise FileExistsError
        with _refusals(self.name, self.option), staged(self.path, private=self.private) as one:
            one.file.write(data)
            one.name()
            placed = one.take_place(new=True)
        if not placed:
            raise FileExistsError

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Yield a binary file; a regular file appears when all of it is written.

        Raises:
            OutputError: the system refused.
            BrokenPipeError: the reader has gone.
        """
        with _refusals(self.name, self.option):
            if self.path is None:
                sys.stdout.flush()
                yield cast("BinaryIO", _Patient(sys.stdout.buffer))
                sys.stdout.buffer.flush()
            elif self.atomic:
                with staged(self.path, private=self.private) as one:
                    yield one.file
                    one.name()
                    one.take_place()
            else:
                with self.path.open("wb") as file:
                    yield file


@contextmanager
def row_file(output: Given, *, inputs: Iterable[Any] = ()) -> Iterator[BinaryIO]:
    """Yield a binary file for rows that belong to persons; of a path it is private, or as it was.

    Args:
        output: a path, or an open binary file.
        inputs: what is read; a path among them may not be written to.

    Raises:
        UsageError: the path is one of the inputs, or would be at the next run.
        OutputError: the system refused.
    """
    if not isinstance(output, (str, os.PathLike)):
        yield output
        return
    paths = [os.fspath(one) for one in inputs if isinstance(one, (str, os.PathLike))]
    with Destination.open(os.fspath(output), inputs=paths, private=True).stream() as file:
        yield file


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
    with _refusals(""), ExitStack() as stack:
        whole = []
        for destination, data in parts:
            if destination.path is None or not destination.atomic:
                destination.write(data)
                continue
            with _refusals(destination.name):
                one = stack.enter_context(staged(destination.path, private=destination.private))
                one.file.write(data)
                one.name()
            whole.append(one)
        with _refusals(destination.name), _withdrawn(outdated, whole):
            for one in whole:
                with _refusals(str(one.path)):
                    one.take_place()


@contextmanager
def _withdrawn(path: Path | None, whole: Sequence[StagedFile]) -> Iterator[None]:
    """Remove a small file; put it back if none of the whole files takes its place."""
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
        # A signal may come when one has, of which this would be wrong.
        if all(one.beside.exists() for one in whole):
            path.write_bytes(old)
            path.chmod(mode)
        raise


def _require_stdout() -> None:
    if sys.stdout is None:
        raise OutputError(
            "no_stdout", "Standard output is closed.", "Write to a file, with `output`."
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
    with staged(path, private=True):
        return True


class _Patient:
    """Writes all that it is given: with PYTHONUNBUFFERED standard output may take less."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes | memoryview) -> int:
        """Write all of it, in as many steps as it takes."""
        rest = memoryview(data)
        while rest:
            written = self._stream.write(rest)
            if not written:
                raise BlockingIOError(errno.EAGAIN, "")
            rest = rest[written:]
        return len(data)

    def flush(self) -> None:
        """Let what was written go on."""
        self._stream.flush()


@contextmanager
def _refusals(name: str, option: str = "`output`") -> Iterator[None]:
    """Say in our words what the system refuses.

    Raises:
        OutputError: it did.
        BrokenPipeError: the reader of a pipe has gone.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # Here, since most reports are written without it.
        from mipaudit.statements.printable_names import safe_name

        what = f"The output {safe_name(name, longest=_LONGEST_NAME)}" if name else "The output"
        raise OutputError(
            "unwritable_output",
            f"{what} cannot be written: {os.strerror(error.errno or errno.EIO)}.",
            f"Choose another file for {option}, in a directory that exists and may be written to.",
        ) from None


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


def beside(
    option: str, name: str | None, forms: Sequence[str], *, inputs: Iterable[str | None] = ()
) -> Destination | None:
    """Return the checked place of a file beside a report; None where it is not asked for.

    Args:
        option: its keyword.
        name: of the file.
        forms: the endings that it may have, each of which stands for a form.
        inputs: what is read: none of it may be overwritten.

    Raises:
        UsageError: a suffix that stands for no form, or an input.
        OutputError: the place cannot be written to.
    """
    if name is None:
        return None
    if PurePath(name).suffix.lower() not in forms:
        raise UsageError(option, f"`{option}` takes a file name that ends in {', '.join(forms)}.")
    return Destination.open(name, inputs=inputs, option=f"`{option}`")


def report_beside(
    name: str | None, data: Destination | None, *, inputs: Iterable[str | None]
) -> Destination:
    """Return the checked place of a report whose command writes data, too.

    Args:
        name: the file; None is standard output.
        data: where the data go; None: nowhere.
        inputs: what is read.

    Raises:
        UsageError: both would be one file.
        OutputError: the place cannot be written to.
    """
    place = Destination.open(name, inputs=inputs, option="`report`")
    require_apart({"output": ("the data", data), "report": ("the report", place)})
    return place


def require_apart(places: Mapping[str, tuple[str, Destination | None]]) -> None:
    """Refuse one file for two things: by option, what it asks for, for people, and where.

    Raises:
        UsageError: ``same_file``.
    """
    paths = [place.path for _, place in places.values() if place and place.path]
    if len(set(paths)) < len(paths):
        things = _joined([thing for thing, _ in places.values()])
        raise UsageError(
            "same_file",
            f"{things[0].upper()}{things[1:]} need a file each.",
            f"Name different files for {_joined([f'`{option}`' for option in places])}.",
        )


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]])
