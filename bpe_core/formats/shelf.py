"""The shelf: the tokenizers of well-known models, and all other tokenizers on this computer.

A tokenizer can be in a user's folder, in the folder `tokenizers` beside the program, or in the Hugging Face cache.
Only the functions `offer_of` and `fetch` of `hugging_face_cache.py` connect to the hub.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from bpe_core.errors import FormatError
from bpe_core.formats.all_formats import FORMATS
from bpe_core.formats.hugging_face_cache import (
    BESIDE,
    BESIDE_MERGES,
    PREFIX,
    Offer,
    cached_tokenizers,
    in_folder,
)
from bpe_core.support.wording import did_you_mean

OWN_FOLDER = "BPE_EXPLORER_TOKENIZERS"  # the environment variable that names a user's folder
BESIDE_PROGRAM = "tokenizers"  # a folder beside the executable
MEGABYTE = 1_000_000
AGREE_WITHIN = 1.5  # times; a larger download than that was not announced


@dataclass(frozen=True)
class ShelfEntry:
    """A tokenizer on the shelf. It has no file if it is not on this computer."""

    title: str
    name: str = ""  # its name on the hub, with its owner; empty for a file without such a name
    licence: str = ""  # empty if it is not known
    about_bytes: int = 0  # about how much is downloaded; 0 if it is not known
    file: Path | None = None
    place: str = ""  # where the file is, in a few words

    @property
    def typed(self) -> str:
        """Return the name or the path with which the tokenizer is opened."""
        return str(self.file) if self.file is not None else PREFIX + self.name

    @property
    def bytes(self) -> int:
        """Return the size of the file. Without a file, return the approximate size of the download, or 0 if it is not
        known.
        """
        try:
            return self.about_bytes if self.file is None else self.file.stat().st_size
        except OSError:
            return 0

    @property
    def size_in_words(self) -> str:
        about = "about " if self.file is None else ""
        return f"{about}{self.bytes / MEGABYTE:,.1f} MB" if self.bytes else "size not known"

    def agrees_with_offer(self, offer: Offer) -> bool:
        """Return whether this entry agrees with the file that the hub offers.

        The file must have the licence of this entry, and must not be much larger than this entry states.
        """
        is_small = offer.size <= AGREE_WITHIN * self.about_bytes
        return is_small and bool(offer.licence) and _key(offer.licence) in _key(self.licence)


KNOWN = (
    ShelfEntry("GPT-2", "openai-community/gpt2", "MIT", 1_400_000),
    ShelfEntry("GPT-4o", "Xenova/gpt-4o", "MIT"),
    ShelfEntry("Llama 3", "NousResearch/Meta-Llama-3-8B", "Llama 3 Community License", 9_000_000),
    ShelfEntry("BERT", "google-bert/bert-base-uncased", "Apache-2.0", 500_000),
    ShelfEntry("T5", "google-t5/t5-small", "Apache-2.0", 1_400_000),
)


def shelf(own_folder: Path | str = "") -> list[ShelfEntry]:
    """List the tokenizers of well-known models, and then all other tokenizers on this computer.

    Parameters
    ----------
    own_folder
        A folder with tokenizers. If it is empty, the environment variable BPE_EXPLORER_TOKENIZERS may name one.
    """
    entries = {_key(known.name): known for known in KNOWN}
    for place, title, name, file in _on_this_computer(own_folder):
        known = next((known for known in KNOWN if _key(name or title) in _keys(known)), None)
        key = str(file) if known is None else _key(known.name)
        if known is None:
            entries.setdefault(key, ShelfEntry(title, name, file=file, place=place))
        elif entries[key].file is None:
            entries[key] = replace(known, file=file, place=place)
    return list(entries.values())


def entry_named(entries: Sequence[ShelfEntry], name: str) -> ShelfEntry:
    """Return the entry that has this title or name, such as "Llama 3" or "hf:openai-community/gpt2"."""
    entry = next((entry for entry in entries if _key(name.removeprefix(PREFIX)) in _keys(entry)), None)
    if entry is None:
        guess = did_you_mean(name, [entry.title for entry in entries])
        raise FormatError(f"The shelf has no tokenizer {name}{guess or '.'} The command `shelf` lists all names.")
    return entry


def _on_this_computer(own_folder: Path | str) -> Iterator[tuple[str, str, str, Path]]:
    """Yield each tokenizer on this computer: a phrase that says where it is, its title, its name on the hub, and its
    file.

    A file may be yielded twice.
    """
    own = str(own_folder) or os.environ.get(OWN_FOLDER, "")
    if own:
        yield from (("in your folder", title, "", file) for title, file in _tokenizers_in(Path(own).expanduser()))
    beside = Path(sys.executable).parent / BESIDE_PROGRAM
    yield from (("beside the program", title, "", file) for title, file in _tokenizers_in(beside))
    for cached in cached_tokenizers():
        yield "in the Hugging Face cache", cached.name, cached.name, cached.file


def _tokenizers_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the title and the file of each tokenizer in a folder and in its subfolders."""
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return  # there is no such folder, or it may not be read
    for place in places:
        if place.is_dir():
            if (file := in_folder(place)) is not None:
                yield place.name.replace("--", "/"), file
        elif (ending := _ending(place.name)) and place.is_file():
            yield place.name.removesuffix(ending).rstrip(".-_") or folder.name, place


def _ending(name: str) -> str:
    """Return the longest ending of a tokenizer's file name, such as ".tiktoken".

    Return an empty string for other files.
    """
    if any(fnmatch(name, pattern) for pattern in (*BESIDE, BESIDE_MERGES)):
        return ""
    return max((ending for ending in FORMATS.endings if name.endswith(ending)), key=len, default="")


def _keys(entry: ShelfEntry) -> set[str]:
    """Return all names of an entry, in lower case and without spaces or punctuation."""
    names = (entry.title, entry.name, entry.name.rsplit("/", 1)[-1])
    return {_key(name) for name in names if name}


def _key(name: str) -> str:
    """Return a name in lower case and without spaces or punctuation.

    >>> _key("GPT-4o"), _key("Llama 3")
    ('gpt4o', 'llama3')
    """
    return "".join(filter(str.isalnum, name.lower()))
