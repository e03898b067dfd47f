"""Results of the package subword-nmt: published results for its own corpus, and results that it computed for our
corpus.
"""

from __future__ import annotations

import contextlib
import io
from functools import cache
from typing import NamedTuple

import pytest

from tests.shared import available_texts, text_of

CORPORA = available_texts("prose", "data/subword-nmt/corpus.en")


class Reference(NamedTuple):
    """A corpus, 1,000 merges, and the corpus split by these merges.

    In the split corpus, `@@` follows each piece of a word except the last piece.
    """

    corpus: str
    codes: str
    cut: str


@cache
def reference_of(name: str) -> Reference:
    if name.startswith("data/"):
        files = ("corpus.en", "bpe.ref", "corpus.bpe.ref.en")
        return Reference(*(text_of(f"data/subword-nmt/{file}") for file in files))
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe", reason="the package subword-nmt is not installed")
    text = text_of(name)
    codes = codes_of(text, 1_000, 2)
    theirs = apply_bpe.BPE(io.StringIO(codes))
    return Reference(text, codes, "".join(theirs.process_line(line) for line in text.splitlines(keepends=True)))


def codes_of(text: str, merges: int, min_frequency: int) -> str:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe", reason="the package subword-nmt is not installed")
    codes = io.StringIO()
    with contextlib.suppress(ValueError):  # the library fails if no pair is left; the merges written so far count
        learn_bpe.learn_bpe(io.StringIO(text), codes, merges, min_frequency=min_frequency)
    return codes.getvalue()
