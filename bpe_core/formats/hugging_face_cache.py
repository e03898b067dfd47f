"""The tokenizers in the Hugging Face cache. A user names them as on the hub, such as `hf:openai-community/gpt2`.

A tokenizer in the cache is opened without a connection. If a user types the name of another tokenizer, the package
huggingface_hub downloads it, if the package is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from bpe_core.errors import Cancelled, FormatError, plain
from bpe_core.support.journal import complete_all_in
from bpe_core.support.optional_packages import MISSING_HUB
from bpe_core.support.progress import ALONE, Progress, Work

PREFIX = "hf:"
# The files that a tokenizer can be read from, the most complete first, and the sidecar files of each.
FILES = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "*.tiktoken"),
    *("merges.txt", "vocab.bpe", "vocab.txt"),
)
BESIDE = (
    *("tokenizer_config.json", "special_tokens_map.json", "config.json"),
    *("added_tokens.json", "generation_config.json", "chat_template.*", "additional_chat_templates/*"),
)
BESIDE_MERGES = "vocab.json"  # the ids of merges in a text file
LONGEST_CAUSE = 120  # characters

Answer = TypeVar("Answer")  # of the package huggingface_hub

_NAME = re.compile(r"hf:((?:[\w.-]+/)?[\w.-]+)(?:@([\w.-]+))?")  # followed by a branch, a tag or a commit


class CachedFile(NamedTuple):
    name: str  # with the name of its owner
    file: Path

    @property
    def typed(self) -> str:
        return PREFIX + self.name


def folder() -> Path:
    """Return the folder of huggingface_hub's cache. Environment variables can change it."""
    for variable, inside in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")):
        if place := os.environ.get(variable):
            return Path(os.path.expandvars(place)).expanduser() / inside
    try:
        return Path.home() / ".cache" / "huggingface" / "hub"
    except RuntimeError:
        return Path(".cache")  # there is no home folder, so no cache


def cached_tokenizers() -> list[CachedFile]:
    """Return the names and files of all tokenizers that can be opened without a connection, sorted by name."""
    return sorted(_cached())


def _cached() -> Iterator[CachedFile]:
    try:
        places = [place for place in folder().iterdir() if place.name.startswith("models--")]
    except OSError:
        return  # there is no cache, or it may not be read
    for place in places:
        file = _file_in_snapshots(place, "")
        if file is not None:
            yield CachedFile(place.name.removeprefix("models--").replace("--", "/", 1), file)


def is_name(path: Path | str) -> bool:
    """Return whether a text is a name such as `hf:gpt2`. An existing file or an `hf://` address is not such a name."""
    text = str(path)
    return text.startswith(PREFIX) and not text.replace("\\", "/").startswith("hf://") and not Path(path).exists()


def located(path: Path | str, *, may_fetch: bool = True) -> Path:
    """Return the file for a name such as `hf:gpt2`. The file is downloaded if necessary.

    Return any other path unchanged. Raise FormatError for an address such as https://host/tokenizer.json.
    """
    if not is_name(path):
        if "://" in str(path):
            _refuse_address(str(path))
        return Path(path)
    text = str(path).replace("\\", "/")
    match = _NAME.fullmatch(text)
    if match is None or any(set(part) == {"."} for part in match[1].split("/")):
        raise FormatError(
            f"{text} is not the name of a tokenizer. Write the name as hf:owner/name, or hf:owner/name@revision."
        )
    name = match[1]
    revision = match[2] or ""
    if (file := _among_cached(name, revision)) is not None:
        return file
    if not may_fetch:
        raise FormatError(
            f"{_lacking(name)}. To fetch the tokenizer, type its name in a command, such as `bpe-explorer import`."
        )
    return fetch(offer_of(name, revision))


def _refuse_address(path: str) -> None:
    from bpe_core.text.reading.opening import is_address, shown, without_password  # most paths do not need this import

    if is_address(path):
        raise FormatError(
            f"{shown(without_password(path))} is an address, and a tokenizer is opened only from this computer. "
            "Download the file and name it here, or name a tokenizer of Hugging Face as hf:owner/name."
        )


def tokenizer_file(path: Path | str) -> Path:
    """Return the tokenizer file for a name such as `hf:gpt2`, or for a folder. Any other path is returned unchanged."""
    place = located(path)
    if not is_folder(place):
        return place
    complete_all_in(place)
    if (inside := in_folder(place)) is None:
        raise FormatError(f"{place} is a folder without any of {', '.join(FILES)}. Name the file to open.")
    return inside


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a NUL in its name; it is refused where it is opened
        return False


def _among_cached(name: str, revision: str) -> Path | None:
    file = _file_in_snapshots(folder() / f"models--{name.replace('/', '--')}", revision)
    if file is not None or "/" in name:
        return file
    # gpt2 has moved to openai-community/gpt2
    alike = [cached for cached in _cached() if cached.name.endswith(f"/{name}")]
    if len(alike) > 1:
        raise FormatError(
            f"Several tokenizers match {name}. Name one of {', '.join(sorted(cached.typed for cached in alike))}."
        )
    return _file_in_snapshots(folder() / f"models--{alike[0].name.replace('/', '--')}", revision) if alike else None


def _file_in_snapshots(repository: Path, revision: str) -> Path | None:
    """Return the path of the tokenizer in a revision. Return None if the cache has no such tokenizer.

    Without `revision`, use the main branch, or the newest snapshot if the main branch is not in the cache.
    """
    snapshots = repository / "snapshots"
    try:
        commit = (repository / "refs" / (revision or "main")).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        commit = revision
    try:
        newest = [] if commit else sorted(snapshots.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True)
        wanted = [snapshots / commit] if commit else newest
        return next((file for place in wanted if (file := in_folder(place)) is not None), None)
    except OSError:
        return None


def in_folder(place: Path) -> Path | None:
    """Return the path of the tokenizer in a folder. Return None if the folder contains no tokenizer."""
    files = (file for pattern in FILES for file in sorted(place.glob(pattern)) if file.is_file())
    return next(files, None)


# --- Downloads --------------------------------------------------------------------------


class Offer(NamedTuple):
    """The files of a tokenizer on the Hugging Face Hub, with their sizes and licence. They are not downloaded yet."""

    name: str  # with the name of its owner
    revision: str  # empty for the main branch
    files: tuple[str, ...]
    sizes: tuple[int, ...]  # bytes of each file; 0 if the hub does not say
    licence: str  # as the hub names it; empty if the hub does not say

    @property
    def size(self) -> int:
        return sum(self.sizes)


def offer_of(name: str, revision: str = "") -> Offer:
    """Ask the hub which files a tokenizer has, how large they are, and what their licence is."""
    hub = _hub(name)
    info = _ask_hub(name, lambda: hub.model_info(name, revision=revision or None, files_metadata=True))
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    files = _files_of_tokenizer(list(sizes))
    if not files:
        raise FormatError(f"{PREFIX}{name} has no tokenizer that this program reads ({', '.join(FILES)}).")
    return Offer(name, revision, files, tuple(sizes[file] for file in files), _licence(info.card_data))


def fetch(offer: Offer, work: Work = ALONE) -> Path:
    """Download the files of an offer into the cache. Return the path of the tokenizer."""
    hub = _hub(offer.name)

    def download(file: str, before: int) -> Path:
        work.check()
        bar = _bar_class(work, before, offer.size, file)
        return Path(hub.hf_hub_download(offer.name, file, revision=offer.revision or None, tqdm_class=bar))

    before = accumulate(offer.sizes, initial=0)
    places = [_ask_hub(offer.name, partial(download, *part)) for part in zip(offer.files, before, strict=False)]
    work.check()
    return places[0]


def _files_of_tokenizer(files: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the tokenizer file and of its sidecar files.

    Return an empty tuple if there is no tokenizer file.
    """
    at_top = sorted(file for file in files if "/" not in file)
    first = next((file for pattern in FILES for file in at_top if fnmatch(file, pattern)), None)
    if first is None:
        return ()
    beside = (*BESIDE, BESIDE_MERGES) if first in ("merges.txt", "vocab.bpe") else BESIDE
    return first, *(file for file in sorted(files) if any(fnmatch(file, pattern) for pattern in beside))


def _licence(card: Any) -> str:
    """Return the licence on the card of a model.

    If the card says "other", the name of the licence is in another field.
    """
    licence = str(getattr(card, "license", None) or "")
    return str(getattr(card, "license_name", None) or licence) if licence == "other" else licence


def _hub(name: str) -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise FormatError(f"{_lacking(name)}. To fetch it, the program {MISSING_HUB}") from error
    return huggingface_hub


def _lacking(name: str) -> str:
    return f"{PREFIX}{name} is not in the Hugging Face cache ({folder()})"


def _ask_hub(name: str, ask: Callable[[], Answer]) -> Answer:
    """Call a function of the package huggingface_hub. If it fails, raise FormatError with the cause."""
    try:
        return ask()
    except Cancelled:
        raise
    except Exception as error:  # any exception of another library
        cause = plain(str(error).split("\n")[0], LONGEST_CAUSE).rstrip(".")
        raise FormatError(f"{_lacking(name)}, and could not be fetched: {cause}.") from error


def _bar_class(work: Work, before: int, total: int, file: str) -> type:
    """Return a class that replaces the progress bar of the package tqdm and reports the progress to `work`.

    `before` is the number of bytes that were downloaded before this file.
    """

    class Bar:
        """A progress bar that draws nothing. It stops the download if the work is cancelled."""

        def __init__(self, *_: object, **choices: Any) -> None:
            self.n = int(choices.get("initial") or 0)
            self.total = choices.get("total")

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

        def update(self, bytes: float | None = 1) -> None:
            work.check()
            self.n += int(bytes or 0)
            work.progress(Progress("fetching", min(before + self.n, total), total or None, "bytes", file))

        def update_transfer(self, bytes: float | None = 1) -> None:
            work.check()  # bytes from the network; `update` counts the bytes on the disk

        def set_postfix_str(self, *_: object, **__: object) -> None: ...

        def set_transfer_postfix_str(self, *_: object, **__: object) -> None: ...

        def refresh(self) -> None: ...

        def close(self) -> None: ...

    return Bar
