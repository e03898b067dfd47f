"""The list of texts in a corpus, and functions that add texts to the list."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any

from bpe_core.counting.background import TextsToCount, corpus_of
from bpe_core.errors import CorpusError
from bpe_core.session_file.values import SavedSource
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.opening import is_address, without_password
from bpe_core.text.reading.source import OnInvalid

PATHS_REACH_FAR = sys.platform == "win32"

# Choices besides Python's encodings: they say what happens to bytes that are not valid.
LENIENT: dict[str, tuple[str | None, OnInvalid]] = {
    "utf-8 replace": ("utf-8", "replace"),
    "utf-8 skip": ("utf-8", "skip"),
}

LARGEST_EDITED = 1_000_000  # bytes
IN_NONE = "in no group"  # shown for texts in no group, if other texts are in groups
_numbers = itertools.count(1)


def fresh_number() -> int:
    return next(_numbers)


def state_of(path: Path) -> tuple[int, int] | None:
    """Return the size and the modification time of a file, or None if the file is gone.

    If one of these values is different later, then the file has changed.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True)
class CorpusText:
    """A text of the corpus: a file, an address, a text in memory, or a folder whose files are read as one text.

    The number of a text identifies it even if its position in the list changes.
    """

    name: str
    path: Path | None = None
    text: str = field(default="", repr=False)
    address: str = ""  # of a file or folder that an installed package reads
    encoding: str | None = None
    column: str = ""  # the column that holds the texts, if the user chose it
    word_list: bool | None = None  # whether the file holds words with counts, if the user said so
    refused: str = ""  # why the file is not opened
    is_folder: bool = False
    picked: tuple[str, ...] = field(default=(), repr=False)  # the files to read from a folder, by their paths in it
    group: str = ""  # its name; empty for a text in no group
    number: int = field(default_factory=fresh_number)

    def is_same_as(self, other: CorpusText) -> bool:
        """Return whether both texts are read from the same file or address in the same way.

        The attribute `number`, which identifies a text in the list of texts, may differ.
        """
        return dataclasses.replace(self, number=other.number) == other

    @property
    def size(self) -> int | None:
        """Return the size in bytes, or None if the file cannot be read.

        Return None for folders and addresses, too, because measuring them would take a long time.
        """
        if self.address:
            return None
        if self.path is None:
            return len(self.text.encode())
        state = self.file_state()
        return state and state[0]

    def file_state(self) -> tuple[int, int] | None:
        """Return the size and the modification time of the file.

        Return None for a text in memory, a folder, or a file that is gone.
        """
        return None if self.path is None or self.refused or self.is_folder else state_of(self.path)

    def holds(self, path: Path | None) -> bool:
        """Return whether this is a folder that contains the path.

        If the user picked some files of the folder, then the path must be one of them.
        """
        if path is None or self.path is None or not self.is_folder or not path.is_relative_to(self.path):
            return False
        return not self.picked or str(path.relative_to(self.path)) in self._all_picked

    @cached_property
    def _all_picked(self) -> frozenset[str]:
        return frozenset(self.picked)

    @property
    def place(self) -> str:
        """Return the path or address in the form that users see and session files store.

        It is empty for a text in memory.
        """
        if self.address:
            return without_password(self.address)
        return "" if self.path is None else str(self.path.absolute())

    def to_count(self) -> TextsToCount:
        """Return a description of this text from which any process can open the text and count its words.

        Raise CorpusError if the text must not be read.
        """
        if self.refused:
            raise CorpusError(self.refused)
        if self.path is None and not self.address:
            return TextsToCount(text=self.text, group=self.group)
        if self.path is not None:
            _refuse_pipes(self.path)
        in_doubt: OnInvalid = "replace" if self.is_folder else "strict"  # a bad file must not stop a folder
        encoding, on_invalid = LENIENT.get(self.encoding or "", (self.encoding, in_doubt))
        choices: dict[str, Any] = {"encoding": encoding, "on_invalid": on_invalid, "word_list": self.word_list}
        choices |= {"field": self.column or None, **({"only": self.picked} if self.picked else {})}
        return TextsToCount(self.address or str(self.path), group=self.group, choices=choices)

    def key(self) -> Hashable:
        """Return the key of the text's counts in the cache.

        The key changes with the content of a file, but not with the content of a folder.
        """
        read_as = self.encoding, self.column, self.word_list
        if self.path is None or self.is_folder:
            return self.number, self.text, read_as
        return self.path, self.file_state(), read_as


CorpusTexts = tuple[CorpusText, ...]


@contextmanager
def reading(sources: Sequence[CorpusText], remarks: list[str]) -> Iterator[Corpus]:
    """Open these texts as one corpus. At the end, add a sentence for each skipped part to `remarks`."""
    corpus = corpus_of([source.to_count() for source in sources])
    yield corpus
    remarks += map(str, corpus.skipped)


def text_to_edit(source: CorpusText, cancelled: CancelCheck = never_cancelled) -> str:
    """Return the text for the editor. Raise CorpusError with the reason if it cannot be edited."""
    if source.is_folder or source.address:
        raise CorpusError(
            f"{source.name} cannot be edited, because it is not a file on this computer. Open a file or paste a text."
        )
    corpus = source.to_count().corpus()
    data = bytearray()
    is_whole = False
    if corpus.word_lists:
        raise CorpusError(f"{source.name} holds words with their counts, which cannot be edited as a text.")
    for chunk in while_wanted(corpus.chunks(), cancelled):
        if is_whole:
            raise CorpusError(f"{source.name} holds several texts. Only a file with one plain text can be edited here.")
        data += chunk.data
        is_whole = chunk.ends_document
        if len(data) > LARGEST_EDITED:
            raise CorpusError(
                f"{source.name} has more than {LARGEST_EDITED // 10**6} MB, which is too much to train again after "
                "each keystroke. Edit the file in another program, and save it. The next training reads the new text."
            )
    return data.decode()


def _refuse_pipes(path: Path) -> None:
    """Raise CorpusError for a pipe or a device.

    A session file may name a pipe, and a thread that waits for a pipe cannot be stopped.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise CorpusError(
            f"{path} is a pipe or a device. The window learns only from files. The command `bpe-explorer train` also "
            "learns from pipes."
        )


def with_files(sources: CorpusTexts, paths: tuple[Path, ...]) -> CorpusTexts:
    """Return the texts plus a text for each file that is not among them yet.

    >>> some = with_files((), (Path("a.txt"), Path("b.txt")))
    >>> [source.name for source in with_files(some, (Path("b.txt"), Path("c.txt")))]
    ['a.txt', 'b.txt', 'c.txt']
    """
    known = {source.path for source in sources if not source.refused}
    folders = [source for source in sources if source.is_folder]
    fresh = [
        path for path in dict.fromkeys(paths) if path not in known and not any(folder.holds(path) for folder in folders)
    ]
    kept = tuple(source for source in sources if source.path is None or source.path not in fresh)
    return kept + tuple(CorpusText(path.name, path=path) for path in fresh)


def with_counts(sources: CorpusTexts, path: Path, columns: Mapping[str, str]) -> CorpusTexts:
    """Return the texts plus the groups of counted words in a file or folder. Each group becomes a text.

    All other texts from this file or folder are removed. `columns` maps the name of a group to the column with its
    counts.

    >>> [(text.name, text.group) for text in with_counts((), Path("a.parquet"), {"de": "count in de"})]
    [('a.parquet, de', 'de')]
    """
    texts = [source for source in sources if source.path != path]
    is_folder = path.is_dir()
    for group, column in columns.items():
        name = f"{path.name}, {group}" if group else path.name
        texts.append(CorpusText(name, path, column=column, group=group, is_folder=is_folder))
    return tuple(texts)


def with_folder(sources: CorpusTexts, folder: Path) -> CorpusTexts:
    """Return the texts plus a folder as one text.

    Texts that lie inside the folder are left out, so that no file is read twice.

    >>> some = with_files((), (Path("a/b/c.txt"), Path("d.txt")))
    >>> [source.name for source in with_folder(some, Path("a"))]
    ['d.txt', 'a/']
    """
    kept = (source for source in sources if source.path is None or not source.path.is_relative_to(folder))
    return (*kept, CorpusText(f"{folder.name}/", path=folder, is_folder=True))


def with_address(sources: CorpusTexts, address: str) -> CorpusTexts:
    """Return the texts plus a text that is read from an address. If they already contain it, return them unchanged.

    The program never reads an address that comes from a session file. If the texts contain the address only as such
    an unread text, the new text replaces it.

    >>> [source.name for source in with_address((), "s3://bucket/a.jsonl?versionId=5")]
    ['a.jsonl']
    """
    place = without_password(address)
    known = {source.number for source in sources if source.address and source.place == place}
    if any(source.number in known and not source.refused for source in sources):
        return sources
    kept = without(sources, known)
    name = address.split("::")[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1]
    return (*kept, CorpusText(name or place, address=address))


def from_session(saved: SavedSource) -> CorpusText:
    """Return a text that a session file names.

    The addresses in a session file are not read, because the file may come from a stranger. Reading them would reveal
    to another computer who opened the session.
    """
    path = saved.path
    source = CorpusText(saved.name, encoding=saved.encoding, column=saved.column, group=saved.group)
    if path is None:
        return dataclasses.replace(source, text=saved.text or "")
    refused = ""
    if is_address(path):
        refused = f"{path} is an address from a session file. If you trust it, use File > Open from Address."
        return dataclasses.replace(source, address=path, refused=refused)
    if PATHS_REACH_FAR and PureWindowsPath(path).drive.startswith(r"\\"):
        refused = (
            f"{path} is on another computer and comes from a session file. If you trust that computer, add the file "
            "with File > Open Texts."
        )
    is_folder = not refused and (bool(saved.picked) or Path(path).is_dir())
    source = dataclasses.replace(source, picked=saved.picked, word_list=saved.word_list)
    return dataclasses.replace(source, path=Path(path), refused=refused, is_folder=is_folder)


def without(sources: CorpusTexts, numbers: set[int]) -> CorpusTexts:
    return tuple(source for source in sources if source.number not in numbers)


MOST_LISTED = 1_000  # most files that are listed one by one


def can_be_picked(path: Path) -> bool:
    """Return whether a path is valid Unicode. Session files need that, but some systems allow other names."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def picked_by_folder(paths: Sequence[Path], most: int = MOST_LISTED) -> dict[Path, tuple[str, ...]]:
    """Group files by their folders. If there are more than `most` folders, use parent folders instead.

    >>> files = [Path("a/1/x"), Path("a/2/y"), Path("a/2/z")]
    >>> [*picked_by_folder(files).values()], [len(names) for names in picked_by_folder(files, 1).values()]
    ([('x',), ('y', 'z')], [3])
    """
    folders: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(paths):
        folders.setdefault(path.parent, []).append(path)
    while len(folders) > most and any(folder.parent != folder for folder in folders):
        further: dict[Path, list[Path]] = {}
        for folder, files in folders.items():
            further.setdefault(folder.parent, []).extend(files)
        folders = further
    return {folder: tuple(str(file.relative_to(folder)) for file in files) for folder, files in folders.items()}


def with_picked(sources: CorpusTexts, picked: Mapping[Path, tuple[str, ...]]) -> CorpusTexts:
    """Add folders to the texts, and return all texts. Only the picked files in a folder are read.

    No file is read twice.

    >>> texts = with_picked((CorpusText("b", Path("a/b")),), {Path("a"): ("b", "c")})
    >>> [(text.name, text.picked) for text in with_picked(texts, {Path("a"): ("c", "d")})]
    [('a/', ('b', 'c', 'd'))]
    """
    for folder, names in picked.items():
        if any(text.holds(folder) for text in sources if not text.picked):
            continue
        before = next((text for text in sources if text.picked and text.path == folder), None)
        known = () if before is None else before.picked
        text = CorpusText(f"{folder.name}/", path=folder, is_folder=True, picked=(*dict.fromkeys((*known, *names)),))
        if before is not None:
            text = dataclasses.replace(text, group=before.group)
        kept = (source for source in sources if source is not before and not text.holds(source.path))
        sources = (*kept, text)
    return sources


def without_files(sources: CorpusTexts, number: int, names: Collection[str]) -> CorpusTexts:
    """Return the texts after removing the files `names` from the folder with this number. The folder gets a new number,
    so that its remaining files are counted again.

    >>> texts = with_picked((), {Path("a"): ("b", "c")})
    >>> number = texts[0].number
    >>> [text.picked for text in without_files(texts, number, {"b"})], without_files(texts, number, {"b", "c"})
    ([('c',)], ())
    """
    gone = frozenset(names)
    left = []
    for text in sources:
        rest = tuple(name for name in text.picked if name not in gone) if text.number == number else text.picked
        if len(rest) == len(text.picked):
            left.append(text)
        elif rest:
            left.append(dataclasses.replace(text, picked=rest, number=fresh_number()))
    return tuple(left)
