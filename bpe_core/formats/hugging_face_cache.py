"""The tokenizers in the Hugging Face cache, by their names on the hub, such as `hf:openai-community/gpt2`.

A tokenizer is opened from the cache, without a connection. If a person types the name of a tokenizer that is not
cached, the package huggingface_hub downloads the tokenizer, if that package is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bpe_core.errors import FormatError, plain
from bpe_core.support.journal import complete_all_in

PREFIX = "hf:"
# The files that a tokenizer can be read from, the most complete first, and the sidecar files of each.
FILES = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "*.tiktoken"),
    *("merges.txt", "vocab.bpe", "vocab.txt"),
)
BESIDE = (
    *("vocab.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"),
    *("added_tokens.json", "generation_config.json", "chat_template.*", "additional_chat_templates/*"),
)
LONGEST_CAUSE = 120  # characters

_NAME = re.compile(r"hf:((?:[\w.-]+/)?[\w.-]+)(?:@([\w.-]+))?")  # followed by a branch, a tag or a commit


class CachedFile(NamedTuple):
    name: str  # with the name of its owner
    file: Path

    @property
    def typed(self) -> str:
        return PREFIX + self.name


def folder() -> Path:
    """Return the cache folder of huggingface_hub, which environment variables can change."""
    for variable, inside in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")):
        if place := os.environ.get(variable):
            return Path(os.path.expandvars(place)).expanduser() / inside
    try:
        return Path.home() / ".cache" / "huggingface" / "hub"
    except RuntimeError:
        return Path(".cache")  # there is no home folder, so no cache


def cached_tokenizers() -> list[CachedFile]:
    """List the names of tokenizers that can be opened without a connection."""
    return sorted(_cached())


def _cached() -> Iterator[CachedFile]:
    try:
        places = [place for place in folder().iterdir() if place.name.startswith("models--")]
    except OSError:
        return  # there is no cache, or it may not be read
    for place in places:
        file = _in_snapshots(place, "")
        if file is not None:
            yield CachedFile(place.name.removeprefix("models--").replace("--", "/", 1), file)


def is_name(path: Path | str) -> bool:
    """Return whether a text is a name such as `hf:gpt2`, and neither an existing file nor an `hf://` address."""
    text = str(path)
    return text.startswith(PREFIX) and not text.replace("\\", "/").startswith("hf://") and not Path(path).exists()


def located(path: Path | str, *, may_fetch: bool = True) -> Path:
    """Return the file for a name such as `hf:gpt2`, which is downloaded if necessary.

    Return any other path unchanged.
    """
    if not is_name(path):
        return Path(path)
    text = str(path).replace("\\", "/")
    match = _NAME.fullmatch(text)
    if match is None or any(set(part) == {"."} for part in match[1].split("/")):
        raise FormatError(
            f"{text} is not the name of a tokenizer. Write the name as hf:owner/name, or hf:owner/name@revision."
        )
    name = match[1]
    revision = match[2] or ""
    return _among_cached(name, revision) or _fetched(name, revision, may_fetch)


def tokenizer_file(path: Path | str) -> Path:
    """Return the tokenizer file for a name such as `hf:gpt2` or for a folder. Return any other path unchanged."""
    place = located(path)
    if not _is_folder(place):
        return place
    complete_all_in(place)
    if (inside := _in_folder(place)) is None:
        raise FormatError(f"{place} is a folder without any of {', '.join(FILES)}. Name the file to open.")
    return inside


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a NUL in its name; it is refused where it is opened
        return False


def _among_cached(name: str, revision: str) -> Path | None:
    file = _in_snapshots(folder() / f"models--{name.replace('/', '--')}", revision)
    if file is not None or "/" in name:
        return file
    # gpt2 has moved to openai-community/gpt2
    alike = [cached for cached in _cached() if cached.name.endswith(f"/{name}")]
    if len(alike) > 1:
        raise FormatError(
            f"Several tokenizers match {name}. Name one of {', '.join(sorted(cached.typed for cached in alike))}."
        )
    return _in_snapshots(folder() / f"models--{alike[0].name.replace('/', '--')}", revision) if alike else None


def _in_snapshots(repository: Path, revision: str) -> Path | None:
    """Return the path of the tokenizer in a revision, or None if there is none.

    Without a revision, the main branch counts. If the main branch is not cached, the newest snapshot counts.
    """
    snapshots = repository / "snapshots"
    try:
        commit = (repository / "refs" / (revision or "main")).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        commit = revision
    try:
        newest = [] if commit else sorted(snapshots.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True)
        wanted = [snapshots / commit] if commit else newest
        return next((file for place in wanted if (file := _in_folder(place)) is not None), None)
    except OSError:
        return None


def _in_folder(place: Path) -> Path | None:
    files = (file for pattern in FILES for file in sorted(place.glob(pattern)) if file.is_file())
    return next(files, None)


def _fetched(name: str, revision: str, may_fetch: bool) -> Path:
    lacking = f"{PREFIX}{name} is not in the Hugging Face cache ({folder()})"
    if not may_fetch:
        raise FormatError(
            f"{lacking}. To fetch the tokenizer, type its name in a command, such as `bpe-explorer import`."
        )
    try:
        hub = import_module("huggingface_hub")
    except ImportError as error:
        raise FormatError(
            f"{lacking}. To fetch the tokenizer, install a package: pip install huggingface_hub."
        ) from error
    try:
        place = hub.snapshot_download(name, revision=revision or None, allow_patterns=[*FILES, *BESIDE])
    except Exception as error:  # any exception of another library
        cause = plain(str(error).split("\n")[0], LONGEST_CAUSE).rstrip(".")
        raise FormatError(f"{lacking}, and could not be fetched: {cause}.") from error
    file = _in_folder(Path(place))
    if file is None:
        raise FormatError(f"{PREFIX}{name} has no tokenizer that this program reads ({', '.join(FILES)}).")
    return file
