"""The corpora that commands read: what was passed over, or changed while it was read, is told on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpe_core as bpe
from bpe_core.errors import plain
from bpe_core.text.reading.skipped import Skipped


@contextmanager
def reading(files: Sequence[str], told: Sequence[Skipped] = (), **choices: Any) -> Iterator[bpe.Corpus]:
    """The corpus of these files; when the work with it is done, whatever has not been `told` before is told."""
    corpus = bpe.Corpus.from_files(list(files), **choices)
    yield corpus
    for skipped in corpus.skipped:
        if skipped not in told:
            sys.stderr.write(f"{plain(str(skipped))}\n")
