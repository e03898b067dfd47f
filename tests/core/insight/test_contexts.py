"""Tests of the contexts of a token: every context has the right file and line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.history.history import History
from bpe_core.insight.contexts import contexts
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

TEXT = "The lower the better.\n\nA lowly flower, low and slow;\nLOW lower lowest.\n"


def train_and_rank(corpus: Corpus, recipe: Recipe) -> tuple[RankedWords, History]:
    history = train(corpus, recipe)
    return RankedWords.of(count_words(corpus, recipe), history), history


def test_each_context_of_a_token_is_shown_with_its_file_name_and_line_number(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("nothing here\nbut the low one\n")
    rows = "".join(json.dumps({"text": text}) + "\n" for text in ("first", "second and lower\nstill second"))
    (tmp_path / "c.jsonl").write_text(rows, encoding="utf-8")
    corpus = Corpus.from_files([tmp_path / "a.txt", tmp_path / "b.txt.gz", tmp_path / "c.jsonl"])
    ranked, history = train_and_rank(corpus, Recipe.preset("gpt2", merges=20))
    low = next(merge.index for merge in history if Tokenizer(history).token_bytes(merge.index) == b" low")
    hits = contexts(corpus, ranked, low, low - 255, most=50)
    places = {(Path(hit.source).name, hit.line, hit.is_row) for hit in hits}
    assert ("b.txt.gz", 2, False) in places
    assert all(hit.text[hit.start : hit.stop] == " low" for hit in hits)
    lines = TEXT.split("\n")
    for hit in hits:
        if hit.source.endswith("a.txt"):
            assert hit.text in lines[hit.line - 1]
        if hit.is_row:
            assert (hit.line, hit.text) == (2, "second and lower")


def test_the_contexts_of_a_token_show_original_lines_instead_of_normalized_text() -> None:
    corpus = Corpus.from_texts(["One line.\n“LOWER!” she said, and lower it was.\n"])
    recipe = Recipe.preset("clean-words", merges=30)
    ranked, history = train_and_rank(corpus, recipe)
    merge = next(merge for merge in history if Tokenizer(history).token_bytes(merge.index).startswith(b"lo"))
    hits = contexts(corpus, ranked, merge.index, merge.step)
    assert {(hit.line, hit.text) for hit in hits} == {(2, "“LOWER!” she said, and lower it was.")}
    assert hits[0].text[hits[0].start : hits[0].stop].lower().startswith("lo")


def test_contexts_show_line_numbers_of_the_file_even_if_normalization_removes_line_breaks() -> None:
    corpus = Corpus.from_texts(["One line.\nA LÓWER one,\nlower it was.\n"])
    recipe = Recipe.preset("bert", merges=30)
    ranked, history = train_and_rank(corpus, recipe)
    lower = next(merge for merge in history if Tokenizer(history).token_bytes(merge.index) == b"lower")
    hits = contexts(corpus, ranked, lower.index, most=9)
    assert [(hit.line, hit.text[hit.start : hit.stop]) for hit in hits] == [(2, "LÓWER"), (3, "lower")]


@given(st.lists(st.text("abc \n.é", max_size=40), min_size=1, max_size=5), st.data())
def test_contexts_are_found_exactly_where_the_tokenizer_produces_the_token(
    texts: list[str], data: st.DataObject
) -> None:
    corpus = Corpus.from_texts(texts)
    recipe = Recipe.preset("gpt2", merges=12)
    words = count_words(corpus, recipe)
    if not any(len(word) > 1 for word, _ in words):
        return
    history = train(corpus, recipe)
    ranked = RankedWords.of(words, history)
    at = data.draw(st.integers(0, len(history)))
    tokenizer = Tokenizer(history)
    occurring = {id for text in texts for id in tokenizer.encode(text, at=at)}
    for token in sorted(occurring):
        hits = contexts(corpus, ranked, token, at, most=1_000)
        assert hits
        for hit in hits:
            raw = tokenizer.token_bytes(token)
            shown = hit.text[hit.start : hit.stop].encode()
            # A line ends where the token has its newline; a token may begin inside a character.
            assert shown in raw or raw in shown or shown == b"" or raw.startswith(b"\n")


def test_a_token_that_no_longer_occurs_has_no_contexts() -> None:
    corpus = Corpus.from_texts(["low low low"])
    ranked, history = train_and_rank(corpus, Recipe.preset("words", merges=2))
    assert contexts(corpus, ranked, len(history.alphabet), 2) == []
    assert contexts(corpus, ranked, len(history.alphabet), 1)


def test_contexts_in_a_text_without_word_splits_show_the_surroundings_of_the_token() -> None:
    text = "\n".join(f"line {n} of a long text without any cut" for n in range(100))
    corpus = Corpus.from_texts([text])
    ranked, history = train_and_rank(corpus, Recipe.preset("raw-bytes", vocab_size=300))
    token = len(history.alphabet) + len(history) - 1
    hits = contexts(corpus, ranked, token)
    assert hits
    assert Tokenizer(history).token_bytes(token).split(b"\n")[0].decode() in hits[0].text
