"""Files that take the place of others when they are whole; none is left if the run ends before."""

from __future__ import annotations

import os
import signal
import stat
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_STEM: Final = 100
_MODE: Final = 0o666
_PRIVATE_MODE: Final = 0o600
_OWN_FILES: Final = Path("/proc/self/fd")
# What ends a run, and what Python does where nobody has said otherwise. Windows lacks some.
_USUAL: Final = {
    getattr(signal, name, None): usual
    for name, usual in (
        ("SIGTERM", signal.SIG_DFL),
        ("SIGHUP", signal.SIG_DFL),
        ("SIGINT", signal.default_int_handler),
    )
}
# The process that each belongs to: a copy of it must not remove what is not its own.
_NAMES: Final[dict[Path, int]] = {}


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """Let nothing be left at a path that this process alone uses, however the run ends.

    Signals come at any moment, also between making a file and taking note of it. So the name is
    noted first, and what a signal does is put off until the file is gone. Whoever embeds this
    package and handles signals keeps them; SIGKILL nobody can handle.
    """
    here = current_thread() is main_thread()  # no other may say what a signal does
    changed = {
        one: usual
        for one, usual in _USUAL.items()
        if here and one is not None and signal.getsignal(one) == usual
    }
    _NAMES[path] = os.getpid()
    try:
        for one in changed:
            signal.signal(one, _end)
        yield
    finally:
        path.unlink(missing_ok=True)
        _NAMES.pop(path, None)
        for one, usual in changed.items():
            signal.signal(one, usual)


def _end(number: int, frame: Any) -> None:  # noqa: ANN401 - a frame of Python
    """Remove what is unfinished, and end as the signal would have ended the run."""
    for path in [path for path, process in _NAMES.items() if process == os.getpid()]:
        with suppress(OSError):
            path.unlink()
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class StagedFile:
    """A file that can take the place of ``path`` when it is written.

    Where the system can, it has no name until it is whole: of a run that is killed nothing
    is left behind.

    Attributes:
        path: the place.
        beside: a hidden name that nobody uses, which it has before it takes it.
        file: open for writing.
    """

    def __init__(self, path: Path, stack: ExitStack, *, private: bool) -> None:
        """Open it; ``stack`` undoes all of it in the end."""
        self.path, self._stack = path, stack
        self.beside = path.with_name(f".{path.name[:_LONGEST_STEM]}.{os.urandom(6).hex()}.tmp")
        # The rights that it does not take over from a file that is there.
        mode, self._hidden = (_PRIVATE_MODE, stat.S_IRWXO) if private else (_MODE, 0)
        descriptor = _open_nameless(path.parent, mode)
        self._nameless = descriptor is not None
        if descriptor is None:
            stack.enter_context(unfinished(self.beside))
            descriptor = _create(self.beside, mode)
        opened = os.fdopen(descriptor, "w+b" if self._nameless else "wb")
        self.file: BinaryIO = stack.enter_context(opened)

    def name(self) -> None:
        """Let it stand beside its place, whole."""
        self.file.flush()
        os.fsync(self.file.fileno())
        if self.path.exists() and hasattr(os, "fchmod"):  # Windows has it from Python 3.13 on
            mode = stat.S_IMODE(self.path.stat().st_mode) & ~self._hidden
            os.fchmod(self.file.fileno(), mode)
        if self._nameless:
            self._stack.enter_context(unfinished(self.beside))
            _give_name(self.file, self.beside)
        self.file.close()  # Windows moves no file that is open

    def take_place(self, *, new: bool = False) -> bool:
        """Let it be what is there; if it is to be ``new``, only where nothing is: else False."""
        if new:
            try:
                os.link(self.beside, self.path)
            except OSError:
                # Some file systems have one name for a file, no more.
                if os.path.lexists(self.path):
                    return False
            else:
                return True
        self.beside.replace(self.path)
        return True


@contextmanager
def staged(path: Path, *, private: bool) -> Iterator[StagedFile]:
    """Yield a file that can take the place of ``path`` when it is written."""
    with ExitStack() as stack:
        yield StagedFile(path, stack, private=private)


def _create(beside: Path, mode: int) -> int:
    # The mode less the umask, as any program would make the file.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(beside, flags, mode)


def _open_nameless(folder: Path, mode: int) -> int | None:
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
