"""Tests of the explanation of the most probable encoding: the explanation lists every piece that was considered."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from bpe_core.counting.words import WordTable
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.explanation import TextWord
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.unigram import reference as unigram
from bpe_core.methods.unigram.explain import CutComparison, WhyPath
from bpe_core.methods.unigram.reference import ids_by_piece, paths
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.core.unigram_training import runs
from tests.shared import text_of


@given(runs())
def test_the_unigram_explanation_names_the_best_split_and_the_best_alternative(
    run: tuple[WordTable, Recipe],
) -> None:
    words, recipe = run
    history = unigram.train(words, recipe)
    at = len(history) // 2
    assert history.scores is not None
    scores = history.scores.at(at).tolist()
    tokens = {piece: id for piece, id in ids_by_piece(history.alphabet, recipe).items() if scores[id] > -math.inf}
    spelled = {id: piece for piece, id in tokens.items()}
    word = min((word.decode() for word, _ in words), key=len)[:9]
    why = WhyPath(word, history)
    symbols = tuple(history.alphabet.symbols_of(word.encode(), recipe))
    if list(split_words(normalize(word, recipe), recipe)) != [word]:  # blanks, or characters that normalization changes
        return
    if any(not history.alphabet.symbols[symbol].merges for symbol in symbols):
        return
    for place in range(1, len(word)):
        byte = len(word[:place].encode())
        reason = compare_splits(why, byte, at)
        explanation, is_cut = why.explanation_at(byte, at), reason.is_cut
        assert (explanation.is_cut, explanation.kind == "joined") == (is_cut, not is_cut)
        ways = {tuple(path): sum(scores[id] for id in path) for path in paths(symbols, tokens)}
        cuts = {path: place + 1 in ends_of(path, spelled) for path in ways}
        assert reason.taken.total == pytest.approx(max(ways.values()))
        others = [total for path, total in ways.items() if cuts[path] != is_cut]
        assert (reason.other is None) == (not others)
        if reason.other is not None:
            assert reason.other.total == pytest.approx(max(others))
            assert cuts[reason.other.tokens] != is_cut
            assert reason.lead >= 0


def compare_splits(why: WhyPath, byte: int, at: int) -> CutComparison:
    word = why._words.around(byte)
    assert isinstance(word, TextWord)
    comparison = why.compared(word, byte, at)
    assert isinstance(comparison, CutComparison)
    return comparison


def ends_of(path: tuple[int, ...], spelled: dict[int, tuple[int, ...]]) -> set[int]:
    ends, end = set[int](), 0
    for id in path:
        end += len(spelled[id])
        ends.add(end)
    return ends


def test_each_reason_for_a_unigram_boundary_is_a_short_sentence() -> None:
    recipe = Recipe.preset("unigram", vocab_size=300, special_tokens=("<end>",))
    history = train(Corpus.from_texts([text_of("latin")]), recipe)
    why = WhyPath("the  rose☃☃ <end>", history, "all")
    at, kinds = len(history), set[str]()
    for byte in range(len("the  rose☃☃ <end>".encode()) + 1):
        reason = why.explanation_at(byte, at)
        kinds.add(reason.kind)
        assert reason.sentence.endswith(".")
        assert len(reason.sentence) < 300
        if reason.kind in ("best", "joined"):
            assert "probable" in reason.sentence
    assert {"edge", "special", "unknown", "whole", "dropped"} <= kinds
    assert kinds & {"best", "joined", "only"}
    tokenizer, explained = Tokenizer(history), explain("rose☃☃ ☃", history, ()).explanation_at
    edges = tokenizer.segmentation("rose☃☃ ☃").edges(at).tolist()  # neighbouring unknown characters are one token
    assert [byte for byte in range(1, 14) if explained(byte, at).is_cut] == sorted({*edges} - {0, 14})
    for step, tokens in why.changes(0):
        assert tokenizer.encode("the", at=step) == tokens
