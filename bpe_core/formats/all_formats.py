"""The list of all formats, and the functions that find the format of a file."""

from __future__ import annotations

import os
import stat
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from bpe_core.errors import Cancelled, FormatError, OutputError, TooLarge, damage_error
from bpe_core.formats.base import Beside, Format, OpenedTable
from bpe_core.formats.hugging_face_cache import tokenizer_file
from bpe_core.formats.other_files import sentence_about_other
from bpe_core.formats.transformers_files import SIDECARS, VOCABULARY, WHOLE
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History
from bpe_core.kernels.readiness import is_loaded
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.atomic import path_to_read, waiting, write_together
from bpe_core.support.foreign import report_faults
from bpe_core.support.format_row import Row as Row
from bpe_core.support.garbage import without_garbage_collection
from bpe_core.support.journal import OF_JOURNALS, SHORT_NAME
from bpe_core.support.plugins import Registry
from bpe_core.support.progress import ALONE, Progress, Work

HERE = "bpe_core.formats"
EXACT = "csv"  # keeps all that was learned
SESSION_ENDING = ".bpex"


def _loaded(name: str, row: Row) -> Format:
    if not isinstance(row, Row):
        raise FormatError("a format must be a Row that names the module of its Format")
    values = vars(import_module(row.module)).values()
    kind = next((value for value in values if isinstance(value, type) and getattr(value, "name", "") == name), None)
    if kind is None:
        raise FormatError(f"{row.module} has no Format with this name")
    made: Format = kind()
    return made


class Formats(Mapping[str, "Format"]):
    """A mapping from names to formats. A format is loaded when its name is first looked up."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self.rows = rows
        self._loaded: dict[str, Format] = {}

    def __getitem__(self, name: str) -> Format:
        if name not in self._loaded:
            self._loaded[name] = _loaded(name, dict(self.rows.items())[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def holding(self, name: str) -> Format:
        """Return the format with this name.

        If no format has this name, return the format EXACT. This is the case for "session", and for the empty name of a
        table that comes from no file.
        """
        return self[name if name in self.rows else EXACT]

    @property
    def endings(self) -> list[str]:
        return [ending for row in self.rows.values() for ending in row.endings]

    @property
    def written(self) -> Formats:
        """Return the formats that this program can write."""
        return Formats({name: row for name, row in self.rows.items() if not row.only_read})

    def asked_about(self, head: bytes) -> Iterator[Format]:
        """Yield the formats that may recognize a file whose content begins with `head`.

        Each format has a mark and a sign. A file must begin with the mark, and the sign must occur near the beginning.
        Either can be empty. A format is loaded only if `head` passes both tests. Formats with a mark come first, and
        formats with neither come last, because they are loaded for almost every file. A sign is searched for only when
        its format is next, and only if the file has the first byte of this format, because a search through the
        beginning of a large file takes long.
        """
        rows = self.rows.items()
        first = head.removeprefix(BOM_UTF8).lstrip()[:1]
        for name, row in rows:
            if row.mark and head.startswith(row.mark) and row.sign in head:
                yield self[name]
        for name, row in rows:
            if not row.mark and row.sign and row.first in (b"", first) and row.sign in head:
                yield self[name]
        for name, row in rows:
            if not row.mark and not row.sign:
                yield self[name]

    def extension(self, name: str) -> str:
        """Return the usual ending of a file name for this format, with its dot, such as ".csv" for CSV."""
        return Path(f"file{self.rows[name].endings[0]}").suffix

    def load(self) -> None:
        """Load all formats now, so that no later call has to wait."""
        for name in self.rows:
            self[name]


# The formats, in the order in which they are asked whether they recognize a content (see `Formats.asked_about`).
_OWN = {
    "csv": Row(
        "Comma-separated values: one row for each step, for spreadsheets and scripts.",
        f"{HERE}.text_tables",
        (".csv",),
        sign=b"step,",
        first=b"s",
        purpose="a table for spreadsheets",
    ),
    "tsv": Row(
        "Tab-separated values: one row for each step, for pasting into spreadsheets.",
        f"{HERE}.text_tables",
        (".tsv",),
        sign=b"step\t",
        first=b"s",
        purpose="a table to paste",
    ),
    "json": Row(
        "JSON: recipe, base symbols and steps in one object, for scripts.",
        f"{HERE}.text_tables",
        (".json",),
        sign=b"bpe-explorer merge table",
        first=b"{",
        purpose="a table for scripts",
    ),
    "tekken": Row(
        "Mistral's tekken.json: ranks with their pattern, after the ids of special tokens.",
        f"{HERE}.tiktoken_ranks",
        ("tekken.json",),
        sign=b'"token_bytes"',
        first=b"{",
        purpose="for Mistral's programs",
    ),
    "tokenizer.json": Row(
        "Hugging Face's tokenizers: all parts in one file, with the special tokens.",
        f"{HERE}.tokenizer_json",
        ("tokenizer.json",),
        sign=b'"vocab"',
        first=b"{",
        purpose="for transformers and tokenizers",
    ),
    "merges.txt": Row(
        "merges.txt with vocab.json, as GPT-2 and older libraries use them.",
        f"{HERE}.merges_pair",
        ("merges.txt", "vocab.json", "vocab.bpe"),
        purpose="for GPT-2 and older libraries",
    ),
    "vocab.txt": Row(
        "BERT's vocab.txt: WordPiece's tokens, one in each line, with ## for tokens inside a word.",
        f"{HERE}.bert_vocabulary",
        ("vocab.txt",),
        purpose="for BERT",
    ),
    "rwkv": Row(
        "RWKV's vocabulary: an id, a text and its length in each row; the longest token that fits is used.",
        f"{HERE}.rwkv_vocabulary",
        ("rwkv_vocab.txt", ".rwkv.txt"),
        purpose="for RWKV",
    ),
    "youtokentome": Row(
        "YouTokenToMe's model, which can only be read: characters, and merges as pairs of ids.",
        f"{HERE}.youtokentome_model",
        (".yttm",),
        only_read=True,
        sign=b"\n9601 ",  # the number of ▁, which is one of the characters
    ),
    "tiktoken": Row(
        "Ranks for tiktoken: each token's bytes in base64, and its rank.",
        f"{HERE}.tiktoken_ranks",
        (".tiktoken",),
        sign=b" ",  # of a rank, in each line
        purpose="for tiktoken",
    ),
    "tiktoken.json": Row(
        "tiktoken's JSON for JavaScript, which can only be read: ranks with their pattern and special tokens.",
        f"{HERE}.tiktoken_json",
        (".tiktoken.json",),
        only_read=True,
    ),
    "subword-nmt": Row(
        "subword-nmt's codes: a pair of texts in each line, with </w> at the end of words.",
        f"{HERE}.subword_nmt_codes",
        (".codes", ".bpe-codes", ".bpe"),
        purpose="for subword-nmt",
    ),
    "minbpe": Row(
        "minbpe's model: the pattern, the special tokens and pairs of ids, with a readable .vocab file.",
        f"{HERE}.minbpe_model",
        (".minbpe.model",),
        mark=b"minbpe v1",
        purpose="for minbpe",
    ),
    "sentencepiece": Row(
        "SentencePiece's model: characters, a ▁ before each word, and the normalizer.",
        f"{HERE}.sentencepiece_model",
        (".spm.model", ".spm", ".model"),
        mark=b"\n",
        is_quick=True,
        purpose="for SentencePiece",
    ),
    "gguf": Row(
        "GGUF, which can only be read: the tokenizer in a language model's file for llama.cpp.",
        f"{HERE}.gguf_tokenizer",
        (".gguf",),
        only_read=True,
        mark=b"GGUF",
    ),
    "markdown": Row(
        "Markdown: the merges as a readable table, for a README or a lesson.",
        f"{HERE}.markdown_table",
        (".md", ".markdown"),
        purpose="a table to read",
    ),
    "parquet": Row(
        "Parquet: one row for each merge, for data frames; needs the package pyarrow.",
        f"{HERE}.parquet_table",
        (".parquet",),
        mark=b"PAR1",
        purpose="a table for data frames",
    ),
}
for _method in METHODS.own.values():
    _OWN |= _method.formats  # formats that hold what only this method learned
ROWS = Registry("formats", _OWN, _loaded)
FORMATS = Formats(ROWS)
TABLES = Formats({name: _OWN[name] for name in ("csv", "tsv", "json")})  # formats that hold the whole history

LARGEST_FILE = 2**31  # bytes; four million merges take half of it
LOOK = 2**20  # bytes of a long file that are enough to tell whether it may be a table
GZIP = b"\x1f\x8b"  # the line with which CLIP's own table begins
MOST_LINES = LARGEST_VOCABULARY + 2**20
LARGEST_UNPACKED = 2**28  # bytes; a table becomes some three times smaller
LARGEST_BESIDE = 2**26  # bytes of a sidecar file
KEPT_FROM = 100_000  # bytes; the opened table of a larger file is stored, as opening takes longer than reading it again
TIMES_IF_QUICK = 10  # how many times larger the files of quick formats are for which this is so


def format_for(path: Path | str) -> Format:
    name = Path(path).name.lower()
    endings = [(ending, format_name) for format_name, row in FORMATS.rows.items() for ending in row.endings]
    fitting = [(ending, format_name) for ending, format_name in endings if name.endswith(ending)]
    if fitting:
        chosen = max(fitting, key=lambda pair: len(pair[0]))[1]
        ROWS.use(chosen)
        return FORMATS[chosen]
    if name.endswith(SESSION_ENDING):
        raise OutputError(
            f"{path} is the name of a session. Sessions are written by the window and by the commands train, branch, "
            "extend and sweep. For a file with all steps and their counts, end the name in .json or .csv."
        )
    all_endings = ", ".join(FORMATS.endings)
    raise OutputError(f"The name {path} does not show its format. End the name in one of {all_endings}.")


def write_history(learned: Learned, path: Path | str, *, format: Format | None = None, work: Work = ALONE) -> None:
    """Write a history to a file. If an error occurs, the file keeps its previous content.

    `learned` is a history or an object that contains a history. If `format` is None, the extension of `path`
    determines the format.
    """
    history = history_of(learned)
    chosen = format or format_for(path)

    def report(where: Progress) -> None:
        if work.cancelled():
            raise Cancelled(f"Writing {path} was stopped. Existing files are unchanged.")
        work.progress(where)

    chosen.refuse_the_impossible(history)
    companions = chosen.companions(Path(path))
    with write_together(path, *companions) as (file, *beside):
        chosen.write(history, file, progress=report)
        for write, companion in zip(companions.values(), beside, strict=True):
            write(history, companion)


def read_history(path: Path | str) -> History:
    return open_table(path).history


def open_table(path: Path | str) -> OpenedTable:
    """Open a file of any known format. The format is recognized by the content.

    `path` may also be the name of a tokenizer in the Hugging Face cache, such as `hf:gpt2`.
    """
    path = _file_of(path)
    beside = files_beside(path)
    if not _is_kept(path):
        return _open(path, beside)
    from bpe_core.formats.kept_openings import open_once  # small files never need it

    return open_once(_file_to_read(path), str(path), beside, partial(_open, path))


def _is_kept(path: Path) -> bool:
    """Return whether the table that is read from a file is stored in the cache.

    The tables of small files are not stored. No table is stored if plug-ins have added formats, because this
    program would not notice a change of a plug-in. With machine code, some formats are opened so quickly that only
    large files are worth storing. But a stored table also saves the time of loading machine code.
    """
    try:
        size = path.stat().st_size
        if size < KEPT_FROM or ROWS.from_plugins:
            return False
        return size >= KEPT_FROM * TIMES_IF_QUICK or not is_loaded() or not _is_quick(_file_to_read(path))
    except (OSError, ValueError):  # the error comes when the file is opened
        return False


def _is_quick(path: Path) -> bool:
    """Return whether a file begins like the files of a format that is opened quickly."""
    marks = tuple(row.mark for row in FORMATS.rows.values() if row.is_quick)
    with open(path, "rb") as file:
        return file.read(max(map(len, marks))).startswith(marks)


def _open(path: Path, beside: Beside) -> OpenedTable:
    """Recognize the format of a file, and open the file."""
    data, known_as = _content(path, beside)
    if len(data) > MOST_LINES and b"\0" not in data[:LOOK] and data.count(b"\n") > MOST_LINES:
        raise TooLarge(f"{path} has more than {MOST_LINES:,} lines, too many for a merge table.")
    format = known_as or _known_by(data, path, beside)
    if format is not None:
        ROWS.use(format.name)
        with without_garbage_collection(), report_faults(str(path)):
            opened = format.open(data, str(path), beside)
        if format.holds_specials or all(beside(name) is None for name in (*SIDECARS, VOCABULARY, WHOLE)):
            return opened
        from bpe_core.formats.transformers_beside import about_beside  # loads all operations on texts

        return replace(opened, notes=(*opened.notes, *about_beside(opened, beside)))
    if not data:
        raise damage_error(f"{path} is empty.")

    known = sentence_about_other(data, str(path))
    if known:
        raise FormatError(known)
    raise FormatError(
        f"{path} is not a merge table that this program can read. Export the tokenizer as tokenizer.json or in another "
        "format that `bpe-explorer convert --help` lists, or train one on texts."
    )


def _file_of(path: Path | str) -> Path:
    """Return the path of the file to open.

    `path` may also be a name such as `hf:gpt2`, or a folder with a tokenizer.
    """
    try:
        is_file = Path(path).is_file()
    except OSError:  # without permission to look at it; the error comes when it is opened
        is_file = False
    return Path(path) if is_file else tokenizer_file(path)


def is_table(path: Path | str) -> bool:
    """Return whether the beginning of a file looks like a tokenizer file of any format.

    Return False if the file cannot be read.
    """
    path = Path(path)
    try:
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            head = beginning(file.read(LOOK))
    except OSError:
        return False
    return any(format.recognizes_file(head, str(path), files_beside(path)) for format in FORMATS.asked_about(head))


def files_beside(path: Path) -> Beside:
    folder = path.parent

    def content(name: str) -> bytes | None:
        neighbour = _file_to_read(folder / name)
        try:
            status = neighbour.stat()
            is_read = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_BESIDE
            return neighbour.read_bytes() if is_read else None
        except (OSError, ValueError):
            return None

    return content


def _file_to_read(path: Path) -> Path:
    """Return the path itself, or the path of a complete new version that has not replaced the file yet.

    Nearly all paths pass a fast check. Only the other paths need the slower function `path_to_read`.
    """
    is_plain = 0 < len(path.name) <= SHORT_NAME and not waiting and not path.is_symlink()
    is_whole = is_plain and not path.with_name(f".{path.name}{OF_JOURNALS}").exists()
    return path if is_whole else path_to_read(path)


def _content(path: Path, beside: Beside) -> tuple[bytes, Format | None]:
    """Read a file, and return its content and its format.

    The format is None if the file is longer than its first bytes, or if they do not show the format. The first bytes
    may show that the file is not a table. It may be a video, for example. Then only these bytes are read and returned.
    """
    try:
        with _opened(_file_to_read(path)) as file:
            head = file.read(LOOK)
            known = _known_by(head, path, beside)
            if len(head) == LOOK and not (known or _may_be_known(beginning(head), path, beside)):
                return beginning(head), None
            enough = (known.enough if known else 0) or LARGEST_FILE + 1
            said = os.fstat(file.fileno()).st_size  # without a size, `read` would take as much memory as it may read
            parts = [head]
            size = len(head)
            while size < enough and (part := file.read(min(enough, max(said, size + LOOK)) - size)):
                parts.append(part)
                size += len(part)
            if size > LARGEST_FILE:
                raise TooLarge(f"{path} is too large. Merge tables of more than {LARGEST_FILE:,} bytes are not read.")
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
    data = unpacked(b"".join(parts), str(path))
    return data, known if data == head else None


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except ValueError as error:  # a NUL, or a lone surrogate
        raise FormatError(f"{str(path)!a} cannot be the name of a file.") from error


def _known_by(head: bytes, path: Path, beside: Beside) -> Format | None:
    for format in FORMATS.asked_about(head):
        if format.recognizes_file(head, str(path), beside):
            return format
    return None


def _may_be_known(head: bytes, path: Path, beside: Beside) -> bool:
    """Return whether a file that begins with `head` may be a table.

    The result is also true for a file that must be read further, such as a long JSON file.
    """
    late = (format.told_late for format in FORMATS.asked_about(head))
    return head.lstrip()[:1] == b"{" or any(late) or _known_by(head, path, beside) is not None


def unpacked(data: bytes, name: str) -> bytes:
    """Return the data, decompressed if it is gzip data.

    >>> import gzip
    >>> unpacked(gzip.compress(b"l o"), "merges.txt.gz"), unpacked(b"l o", "merges.txt")
    (b'l o', b'l o')
    """
    if not data.startswith(GZIP):
        return data
    member = zlib.decompressobj(wbits=31)
    try:
        content = member.decompress(data, LARGEST_UNPACKED + 1)
    except zlib.error as error:
        raise damage_error(f"{name} holds damaged gzip data: {error}.") from error
    if len(content) > LARGEST_UNPACKED:
        raise TooLarge(
            f"{name} unpacks to more than {LARGEST_UNPACKED:,} bytes. Merge tables of this size are not read."
        )
    if not member.eof:
        raise FormatError(f"{name} holds gzip data that ends too early. Copy the whole file again.")
    return content


def beginning(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, LOOK)
    except zlib.error:
        return data


def content_of(path: Path | str) -> bytes:
    return unpacked(_file_of(path).read_bytes(), str(path))
