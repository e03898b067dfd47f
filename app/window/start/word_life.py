"""How one word is put together by what was learned from a sample: scene by scene, and why it ends where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from app.window.parts.wording import count_text
from bpe_core import Corpus, History, Recipe, Tokenizer, Trainer, WordTable, count_unmixed
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.segmenting.boundaries import NEVER
from bpe_core.token_texts import TokenTexts, shown

LONGEST = 40  # characters of a word; more would not be seen at once
MOST_REASONS = 3


@dataclass(frozen=True)
class Piece:
    """A token as it stands in a scene: the symbols from `first` to before `stop`."""

    id: int
    first: int
    stop: int
    data: bytes  # that it covers


@dataclass(frozen=True)
class Scene:
    """The word after one more of its merges."""

    pieces: tuple[Piece, ...]
    sentence: str


@dataclass(frozen=True)
class WordLife:
    """All scenes of a word, and why the last one is the last."""

    symbols: tuple[str, ...]
    scenes: tuple[Scene, ...]
    reasons: tuple[str, ...]


class Taught:
    """What was learned from a sample, ready to be asked about any word."""

    def __init__(self, words: WordTable, history: History) -> None:
        self._words, self._history = words, history
        self._names = TokenTexts.of(history)

    @classmethod
    def by(cls, text: str, recipe: Recipe) -> Taught:
        words = count_unmixed(Corpus.from_texts([text]), recipe)
        trainer = Trainer(words, recipe)
        trainer.advance()
        return cls(words, trainer.history)

    def life_of(self, word: str) -> WordLife:
        """Of a word as it stands within a sentence, behind a blank.

        >>> taught = Taught.by("low low low lower lower newest", Recipe.preset("gpt2", vocab_size=260))
        >>> life = taught.life_of("lowly")
        >>> life.symbols
        ('␣', 'l', 'o', 'w', 'l', 'y')
        >>> [len(scene.pieces) for scene in life.scenes], life.scenes[1].sentence
        ([6, 5, 4, 3], 'Merge 1 joins l and o: 5 times in the sample.')
        """
        text = f" {word[:LONGEST]}"
        data = text.encode()
        boundaries = self._tokenizer.boundaries(text)
        symbols = boundaries.all_symbols()
        steps = sorted({rank for rank in boundaries.ranks.tolist() if 0 <= rank < min(len(self._history), NEVER)})
        scenes = []
        for at in (0, *(step + 1 for step in steps)):
            spans = boundaries.tokens(at).spans().tolist()
            edges = np.searchsorted(symbols.starts, [start for start, _, _ in spans]).tolist()
            ends = [*edges[1:], len(symbols.ids)]
            pieces = tuple(
                Piece(id, first, stop, data[start:end])
                for (start, end, id), first, stop in zip(spans, edges, ends, strict=True)
            )
            scenes.append(Scene(pieces, self._merge(at - 1) if at else self._beginning(text, len(pieces))))
        texts = (shown(data[a:b]) for a, b in zip(symbols.starts.tolist(), symbols.stops.tolist(), strict=True))
        return WordLife(tuple(texts), tuple(scenes), self._reasons(text, boundaries.tokens(len(self._history)).edges))

    def _beginning(self, text: str, pieces: int) -> str:
        letters = len(text) - 1
        return f"{count_text(letters, 'letter')} and the blank before, in {count_text(pieces, 'byte')}: one piece each."

    def _merge(self, row: int) -> str:
        left, right = (self._names.text[part] for part in self._history.pair(row))
        times = count_text(int(self._history.columns.count[row]), "time")
        return f"Merge {row + 1:,} joins {left} and {right}: {times} in the sample."

    def _reasons(self, text: str, edges: npt.NDArray[np.int64]) -> tuple[str, ...]:
        """Why each cut that is left stands; of many, the first."""
        from bpe_core.insight.why import Why, sentence

        why = Why(text, self._history, corpus=self._ranked)
        cuts = edges[1:-1].tolist()
        told = [sentence(why.at_byte(byte), self._names.text.__getitem__) for byte in cuts]
        if len(told) > MOST_REASONS:
            told[MOST_REASONS:] = [f"And {count_text(len(told) - MOST_REASONS, 'cut')} more."]
        return tuple(told) or ("Nothing is left to join: it is one token.",)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self._history)

    @cached_property
    def _ranked(self) -> RankedWords:
        return RankedWords.of(self._words, self._history)
