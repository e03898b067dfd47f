"""The corpora that commands read: what was passed over, or changed while it was read, is told on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import bpe_core as bpe
from bpe_core.errors import CorpusError, plain
from bpe_core.text.reading.skipped import Skipped


@contextmanager
def reading(
    files: Sequence[str],
    told: Sequence[Skipped] = (),
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    twice: bool = False,
    **choices: Any,
) -> Iterator[bpe.Corpus]:
    """The corpus of these files, or groups of files; when the work with it is done, what was not `told` before is."""
    corpus = _corpus_of(files, groups or {}, twice, choices)
    yield corpus
    for skipped in corpus.skipped:
        if skipped not in told:
            sys.stderr.write(f"{plain(str(skipped))}\n")


def _corpus_of(
    files: Sequence[str], groups: Mapping[str, Sequence[str]], twice: bool, choices: dict[str, Any]
) -> bpe.Corpus:
    if not groups:
        return bpe.Corpus.from_files(list(files), twice=twice, **choices)
    if files:
        raise CorpusError(f"{files[0]} is in no group; put all texts into groups (--group NAME FILE ...), or none.")
    corpora = {name: bpe.Corpus.from_files(list(paths), twice=twice, **choices) for name, paths in groups.items()}
    return bpe.Corpus.grouped(corpora, twice=twice)
