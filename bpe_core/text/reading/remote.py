"""The reader of files at addresses such as s3://bucket/a.jsonl.

The package fsspec opens the files, with a package for each kind of address.

This is the only file of the program that can use a network. It is imported only if a user gives such an address.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast

from bpe_core.errors import BpeError, CorpusError, OutputError, plain
from bpe_core.support.wording import count_text
from bpe_core.support.wrapped import WrappedFile
from bpe_core.text.reading.folders import PassOver, matches, without_descriptions
from bpe_core.text.reading.opening import without_password

LONGEST_REASON = 90  # characters of a package's message
_PART_OF_FILE = 206  # the status of an answer of a web server
_IN_TURN = threading.RLock()

Turn = AbstractContextManager[object]


def _lock_of(file_system: Any) -> Turn:
    """Return the lock that a thread holds while it opens or reads a file of a file system.

    The lock is needed if several threads read one shared file object. This happens in archives, and in file
    systems in memory. No lock is needed for a disk, where each reader opens its own file, or for a package that
    can handle many requests at once.
    """
    kind = type(file_system)
    is_around_another = hasattr(file_system, "fs")
    has_no_handle = getattr(kind, "async_impl", False) and not is_around_another
    is_on_disk = "file" in _protocols(file_system)
    return nullcontext() if has_no_handle or is_on_disk else _IN_TURN


def _protocols(file_system: Any) -> tuple[str, ...]:
    protocol = type(file_system).protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


class RemoteText(NamedTuple):
    name: str
    size: int | None
    file_system: Any
    path: str
    version: str = ""  # a different value if the file was written again, as far as is known

    def open(self) -> BinaryIO:
        turn = _lock_of(self.file_system)
        with sentences(self.name), turn:
            raw = self.file_system.open(self.path, "rb")
        return cast(BinaryIO, RemoteFile(self.name, raw, self.size, turn, self.is_longer))

    def is_longer(self) -> bool:
        """Return whether a web server has more of this file than it announced. This takes one request.

        The package reads as many bytes as the server announced, and does not ask for more.
        """
        if self.size is None or not {"http", "https"} & set(_protocols(self.file_system)):
            return False
        try:
            answer = self.file_system.cat_file(self.path, start=self.size, end=self.size + 1)
        except Exception:  # the usual answer is an error: there is nothing after the end
            return False
        sent = len(answer)
        return bool(sent) and sent != self.size  # some servers send the whole file again


class RemoteFile(WrappedFile):
    """A file at an address. If reading fails or ends too early, the error says how many bytes had been read.

    It is also an error if the server has more bytes than it announced, because the rest would be missing.
    """

    def __init__(self, name: str, raw: Any, size: int | None, turn: Turn, is_longer: Callable[[], bool]) -> None:
        super().__init__(raw)
        self._is_longer = is_longer
        self._name = name
        self._place = 0
        self._size = size
        self._turn = turn

    def readinto(self, buffer: Any) -> int:
        with sentences(self._name, self._place):
            with self._turn:
                if self._turn is _IN_TURN and self.seekable() and self.raw.tell() != self._place:
                    self.raw.seek(self._place)
                got = super().readinto(buffer)
            if not got and len(buffer):
                self._check_end()
        self._place += got
        return got

    def _check_end(self) -> None:
        """Raise an error if the file that ends here is not as long as the server announced."""
        answer: Any = getattr(self.raw, "r", None)  # of a web server that sends files only from beginning to end
        is_part = getattr(answer, "status", None) == _PART_OF_FILE
        if is_part and not answer.headers.get("Content-Range", "").endswith(f"/{self._place}"):
            raise EOFError("the server sent only a part of the file, although the whole file was requested")
        if self._size is None:
            return
        if self._place < self._size:
            raise EOFError(f"the file should have {count_text(self._size, 'byte')}, but ends earlier")
        if self._is_longer():
            raise EOFError(f"the server announced {count_text(self._size, 'byte')}, but the file is longer")

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset = self._place + offset
            whence = io.SEEK_SET
        with sentences(self._name, self._place), self._turn:
            self._place = super().seek(offset, whence)
        return self._place

    def tell(self) -> int:
        return self._place

    def close(self) -> None:
        if not self.closed:
            with sentences(self._name, self._place), self._turn:
                super().close()


def remote_texts(address: str, patterns: Sequence[str], pass_over: PassOver) -> tuple[list[RemoteText], bool]:
    name = without_password(address)
    file_system, path = _located(address, name)
    with sentences(name):
        info = file_system.info(path)
        if info.get("type") != "directory":
            return [RemoteText(name, _size(info), file_system, path, _version(info))], False
        info_of_path = file_system.find(path, detail=True)
    inside = {PurePosixPath(below.removeprefix(path).lstrip("/")): below for below in info_of_path}
    seen = [inner for inner in inside if not any(part.startswith(".") for part in inner.parts)]

    def name_of(inner: PurePosixPath) -> str:
        return f"{name.rstrip('/')}/{inner}"

    wanted = without_descriptions([inner for inner in seen if matches(inner, patterns)], name_of, pass_over)
    return [
        RemoteText(name_of(inner), _size(info), file_system, inside[inner], _version(info))
        for inner in sorted(wanted, key=lambda inner: inner.parts)
        for info in [info_of_path[inside[inner]]]
    ], True


def _size(info: dict[str, Any]) -> int | None:
    size = info.get("size")
    return size if isinstance(size, int) else None


def _version(info: dict[str, Any]) -> str:
    """Return a fingerprint of all that is known about a file, such as its time and checksum.

    Each package has different names for these facts, so all facts are used.
    """
    facts = sorted((str(key), str(value)) for key, value in info.items())
    return hashlib.sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()[:24]


def _located(address: str, name: str) -> tuple[Any, str]:
    scheme = re.split(r"://|::", address)[0]
    try:
        import fsspec
    except ImportError as error:
        raise CorpusError(
            f"Reading {scheme}:// needs the package fsspec, which is not installed: pip install fsspec"
        ) from error
    with sentences(name):
        try:
            file_system, path = fsspec.core.url_to_fs(address)
        except ImportError as error:
            cause = error.__cause__
            package = cause.name if isinstance(cause, ImportError) else error.name
            if not package:
                raise CorpusError(f"Reading {scheme}:// needs a package that is not installed: {error}") from error
            package = package.split(".")[0]
            raise CorpusError(
                f"Reading {scheme}:// needs the package {package}, which is not installed: pip install {package}"
            ) from error
        except ValueError as error:
            if "Protocol not known" in str(error):
                raise CorpusError(f"{name} begins with {scheme}://, which no installed package can read.") from error
            raise
    return file_system, str(path)


@contextmanager
def sentences(name: str, place: int = 0) -> Iterator[None]:
    """Convert errors of the package that reads a remote file to a CorpusError.

    The message names the address, the offset and the reason.
    """
    where = f"{name} could be read only up to byte {place:,}" if place else f"{name} could not be read"
    try:
        yield
    except BpeError:
        raise
    except FileNotFoundError as error:
        if answer := _answer_of_server(error.__cause__):
            raise CorpusError(f"{where}: {answer}.") from error
        raise CorpusError(
            f"{where}: the file does not exist any more." if place else f"{name} does not exist."
        ) from error
    except PermissionError as error:
        raise CorpusError(f"{where}: permission denied. Check that you are signed in to this storage.") from error
    except Exception as error:
        raise CorpusError(f"{where}: {_reason(error)}. Check the connection and try again.") from error


NOT_THERE = (404, 410)
SIGN_IN = "sign in to the site, if needed"
ADVICE = {401: SIGN_IN, 403: SIGN_IN, 407: SIGN_IN, 429: "it gets too many requests, so try again later"}
AGAINST_HTTP = "HttpProcessingError"  # the cause that the package names if it cannot read an answer
NOT_HTTP = (
    "the server sent an answer that is not valid HTTP, for example with a wrong length; ask the owner of the server"
)


def _answer_of_server(cause: BaseException | None) -> str:
    """Return the reason why a web server did not send a file. Return an empty string if the server has no such file.

    The package that sends the request reports "file not found" for every reason. The true reason is the cause of its
    error.
    """
    if cause is None:
        return ""
    status = getattr(cause, "status", None)
    kind = type(cause).__name__
    if status in NOT_THERE:
        return ""
    if kind == "TooManyRedirects":
        return "the server redirects the address again and again; ask its owner"
    if "Redirect" in kind:
        place = plain(without_password(str(cause)))[:LONGEST_REASON]
        return f"the server redirects the address to {place}, which is not a web address"
    if isinstance(status, int) and status >= 500:
        return f"the server answered {status}, which is an error of the server; try again later"
    if _is_against_http(cause):
        return NOT_HTTP
    if isinstance(status, int):
        return f"the server answered {status}; {ADVICE.get(status, 'check the address')}"
    return f"the server could not be reached: {_reason(cause)}; try again"


def _is_against_http(error: BaseException) -> bool:
    return type(error.__cause__).__name__ == AGAINST_HTTP


def _reason(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return "permission denied"
    if type(error).__name__ == "ClientPayloadError":
        return "the server sent less data than announced"
    if _is_against_http(error):
        return NOT_HTTP
    said = plain(without_password(str(error))).strip().split("\n")[0]
    wordless = "the server did not answer in time" if isinstance(error, TimeoutError) else type(error).__name__
    return said[:LONGEST_REASON].rstrip(". ") or wordless


class RemotePlace:
    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self._address = address

    def names(self) -> list[str]:
        file_system, path = _located(self._address, self.name)
        with sentences(self.name):
            file_system.invalidate_cache()
            try:
                is_folder = file_system.info(path).get("type") == "directory"
            except FileNotFoundError:
                return []
            paths = file_system.ls(path, detail=False) if is_folder else []
        return sorted(str(inner).rstrip("/").rpartition("/")[2] for inner in paths)

    def open(self, name: str) -> BinaryIO:
        file_system, path = _located(self._address, self.name)
        return RemoteText(f"{self.name}/{name}", None, file_system, f"{path}/{name}").open()

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for writing. The file is sent when it is complete, so a failure never leaves half a file."""
        file_system, path = _located(self._address, self.name)
        held = io.BytesIO()
        yield held
        try:
            file_system.makedirs(path, exist_ok=True)
            file_system.pipe_file(f"{path}/{name}", held.getvalue())
        except Exception as error:
            raise OutputError(f"Could not write {self.name}/{name}: {_reason(error)}.") from error

    def make(self) -> None:
        """Do nothing. A folder at a remote address exists as soon as it contains a file."""

    def take(self, name: str, other: Any, other_name: str) -> None:
        """Copy a file from another remote place. If possible, the server makes the copy."""
        file_system, path = _located(self._address, self.name)
        _, other_path = _located(other._address, other.name)
        try:
            file_system.cp_file(f"{other_path}/{other_name}", f"{path}/{name}")
        except NotImplementedError:
            with other.open(other_name) as source, self.writing(name) as file:
                shutil.copyfileobj(source, file)
        except Exception as error:
            raise OutputError(f"Could not write {self.name}/{name}: {_reason(error)}.") from error

    def remove(self, names: Iterable[str]) -> None:
        file_system, path = _located(self._address, self.name)
        for name in names:
            try:
                file_system.rm_file(f"{path}/{name}")
            except Exception as error:
                raise OutputError(f"Could not remove {self.name}/{name}: {_reason(error)}.") from error
