"""Files that were picked one by one, more than a list is good for: those of a folder are one text of the corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from app.session.corpus_texts import CorpusText, CorpusTexts, fresh_number

MOST_LISTED = 1_000  # files, one by one


def can_be_picked(path: Path) -> bool:
    """A session keeps such names as text, which some systems let a name not be."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def picked_by_folder(paths: Sequence[Path], most: int = MOST_LISTED) -> dict[Path, tuple[str, ...]]:
    """The files of each folder they lie in, by their paths in it; further up where these folders are too many.

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
    """The sources and those files of folders; none is read twice.

    >>> texts = with_picked((CorpusText("b", Path("a/b")),), {Path("a"): ("b", "c")})
    >>> [(text.name, text.picked) for text in with_picked(texts, {Path("a"): ("c", "d")})]
    [('a/', ('b', 'c', 'd'))]
    """
    for folder, names in picked.items():
        whole = (text.path for text in sources if text.is_folder and not text.picked and text.path is not None)
        if any(folder.is_relative_to(path) for path in whole):
            continue
        before = next((text for text in sources if text.picked and text.path == folder), None)
        known = () if before is None else before.picked
        text = CorpusText(f"{folder.name}/", path=folder, is_folder=True, picked=(*dict.fromkeys((*known, *names)),))
        if before is not None:
            text = dataclasses.replace(text, group=before.group)
        kept = (one for one in sources if one is not before and not text.has_picked(one.path))
        sources = (*kept, text)
    return sources


def without_files(sources: CorpusTexts, number: int, names: Collection[str]) -> CorpusTexts:
    """Without some of the files that were picked of a folder; what is left of it is counted anew.

    >>> texts = with_picked((), {Path("a"): ("b", "c")})
    >>> [text.picked for text in without_files(texts, texts[0].number, {"b"})], without_files(
    ...     texts, texts[0].number, {"b", "c"}
    ... )
    ([('c',)], ())
    """
    gone, left = frozenset(names), []
    for text in sources:
        rest = tuple(name for name in text.picked if name not in gone) if text.number == number else text.picked
        if len(rest) == len(text.picked):
            left.append(text)
        elif rest:
            left.append(dataclasses.replace(text, picked=rest, number=fresh_number()))
    return tuple(left)
