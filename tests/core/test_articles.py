"""Tests of all numbers in five articles on byte-pair encoding, and of the errors in these articles.

A  byte-level, with an English pattern, line by line      (preset `english`)
B  characters of cleaned words with `</w>`                (preset `clean-words`)
C  a few given words                                      (preset `words`)
D  the example of low, lower, newest and widest, `</w>`   (preset `words` with a marker)
E  raw bytes, never split                                 (preset `raw-bytes`)

The tests count words with the standard library alone, so that learning is tested separately from counting.
Another test checks the engine's counts. The texts of the articles are not part of the project. If these texts
are absent, the same claims are tested on the project's own texts. Then plain code gives the expected results:
it counts all pairs again at each step. The articles also describe WordPiece, Unigram and the compressor of
1994. These parts are not tested here.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import (
    LEARNERS,
    Learn,
    first_difference,
    history_from_texts,
    learn_fast,
    merge_rows,
    pairs_of,
    token_texts,
)
from tests.core.plain_training import BYTES, Recount, recount
from tests.shared import available_texts, expected, text_of

ENGLISH = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|\s?[A-Za-z]+|\s?\d+|\s?[^A-Za-z\d\s]+|\s+")


@pytest.fixture(params=LEARNERS)
def learn(request: pytest.FixtureRequest) -> Learn:
    return LEARNERS[request.param]


# --- A ----------------------------------------------------------------------------------


def english_counts(text: str) -> Counter[str]:
    """Count the words of a text. The text is divided into lines first. Each line includes its newline."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return Counter(word for line in lines for word in ENGLISH.findall(line))


def english_words(text: str) -> WordTable:
    return WordTable.from_counts(english_counts(text))


def test_training_on_the_example_sentence_gives_the_seven_expected_merges(learn: Learn) -> None:
    history = learn(english_words("the lowest price is lower than the last one"), Recipe.preset("english"))
    assert merge_rows(history) == [
        ("t", "h", 3), (" ", "l", 3), ("th", "e", 2), (" l", "o", 2), (" lo", "w", 2), (" low", "e", 2), ("s", "t", 2)
    ]  # fmt: skip
    assert history.end_reason == "too rare"


def known_numbers(name: str) -> dict[str, Any]:
    """Return the expected numbers for a text that is learned as in article A (see the docstring of this module).

    They come from independent code, or from a plain recount of all pairs.
    """
    if name.startswith("data/"):
        figures: dict[str, Any] = expected("lines_first_seen.json")["texts"][name.removeprefix("data/")]
        return figures
    counts, merges, sentence = english_counts(text_of(name)), 344, "The lamps are lower than the lowest shore"
    plain = recount({letters_of(word): count for word, count in counts.items()}, merges, base=BYTES)
    return {
        "distinct_words": len(counts),
        "words": counts.total(),
        "vocabulary": 256 + merges,
        "merges": plain.pairs,
        "first_with_counts": plain.rows[:20],
        "last_count": plain.counts[-1],
        "steps_decided_by_a_tie": sum(plain.ties),
        "sentence": sentence,
        "sentence_ids": [id for word in ENGLISH.findall(sentence) for id in plain.ids(letters_of(word))],
    }


def letters_of(word: str) -> tuple[str, ...]:
    """Return the bytes of a word, each as one character."""
    return tuple(word.encode().decode("latin-1"))


@pytest.mark.parametrize("name", available_texts("poem", "data/raven.txt"))
def test_training_on_the_lines_of_a_poem_with_the_english_preset_gives_the_expected_merges(
    learn: Learn, name: str
) -> None:
    known = known_numbers(name)
    words = english_words(text_of(name))
    assert (len(words), words.total) == (known["distinct_words"], known["words"])
    history = learn(words, Recipe.preset("english", vocab_size=known["vocabulary"]))
    check_against_list(history, known)


@pytest.mark.parametrize("name", available_texts("prose", "data/tinyshakespeare.txt"))
def test_training_with_the_english_preset_on_a_long_text_gives_the_expected_merges(name: str) -> None:
    known = known_numbers(name)
    words = english_words(text_of(name))
    assert (len(words), words.total) == (known["distinct_words"], known["words"])
    check_against_list(learn_fast(words, Recipe.preset("english", vocab_size=known["vocabulary"])), known)


def check_against_list(history: History, known: dict[str, Any]) -> None:
    assert pairs_of(history) == [tuple(pair) for pair in known["merges"]]
    first = [tuple(row) for row in known["first_with_counts"]]  # each byte as one character
    assert merge_rows(history, encoding="latin-1")[: len(first)] == first
    assert list(history)[-1].count == known["last_count"]
    assert sum(merge.tied for merge in history) == known["steps_decided_by_a_tie"]
    words = ENGLISH.findall(known["sentence"])
    assert [id for word in words for id in reference.encode_word(word.encode(), history)] == known["sentence_ids"]
    assert Tokenizer(history).encode(known["sentence"]) == known["sentence_ids"]


@pytest.mark.parametrize("name", available_texts("made/english", "data/wikitext2-train-unk.txt"))
def test_exactly_1744_merges_fill_a_vocabulary_of_2000_tokens(name: str) -> None:
    history = learn_fast(english_words(text_of(name)), Recipe.preset("english", vocab_size=2000))
    assert len(history) == 1744 == 2000 - 256
    assert history.end_reason == "vocabulary full"
    if name == "data/wikitext2-train-unk.txt":
        check_against_print([left + right for left, right, _ in merge_rows(history)])


def check_against_print(learned: list[str]) -> None:
    # Here rare words have become <unk>, in the text of the article not: u+n comes in between, and some change places.
    printed = [" t", "he", " a", "in", " the", "er", "on", " ,", "re", " s"]
    printed += ["ed", " o", " w", "nd", "at", " .", "or", "it", " c", "en"]
    assert learned[:10] == printed[:10]
    assert set(printed) <= set(learned[:22])


@pytest.mark.parametrize("name", available_texts("poem", "data/raven.txt"))
def test_two_tie_rules_for_a_poem_first_differ_at_the_expected_merge(learn: Learn, name: str) -> None:
    counts = english_counts(text_of(name))
    first_seen, lowest_ids = (
        pairs_of(learn(WordTable.from_counts(counts), Recipe.preset("english", ties=ties, merges=30)))
        for ties in ("first-seen", "lowest-ids")
    )
    plain = {letters_of(word): count for word, count in counts.items()}
    assert lowest_ids == recount(plain, 30, base=BYTES, lowest_ids=True).pairs
    assert first_difference(first_seen, lowest_ids) == {"poem": 8, "data/raven.txt": 14}[name]


@pytest.mark.parametrize(
    "name", available_texts("poem", "prose", "languages", "data/raven.txt", "data/tinyshakespeare.txt")
)
def test_the_engine_counts_english_words_in_the_same_order_as_plain_python(name: str) -> None:
    text = text_of(name)
    counted = count_words(Corpus.from_texts([text]), Recipe.preset("english"))
    assert list(counted) == [(word.encode(), count) for word, count in english_counts(text).items()]


# --- B ----------------------------------------------------------------------------------

BOOKS = {"book": 12, "nook": 8, "noob": 14, "boob": 5, "books": 6}


def clean_counts(text: str) -> Counter[str]:
    return Counter(text.lower().translate(str.maketrans("", "", string.punctuation + "“’")).split())


def test_training_on_words_like_book_without_a_marker_gives_the_expected_merges(learn: Learn) -> None:
    history = learn(WordTable.from_counts(BOOKS), Recipe.preset("words", merges=3))
    assert merge_rows(history) == [("o", "o", 45), ("oo", "k", 26), ("oo", "b", 19)]


def test_training_on_words_like_book_with_a_marker_gives_the_expected_merges(learn: Learn) -> None:
    history = learn(WordTable.from_counts(BOOKS), Recipe.preset("words", marker="symbol", merges=3))
    assert merge_rows(history) == [("o", "o", 45), ("oo", "k", 26), ("ook", "</w>", 20)]


class Figures(NamedTuple):
    """The numbers about a poem that are printed in article B, which the module's docstring describes."""

    distinct: int
    words: int
    tied: int
    tokens_left: int
    left_by_replacing_text: int
    steps_in_error: int


FIGURES = {"poem": Figures(118, 256, 130, 135, 145, 23), "data/raven.txt": Figures(459, 1067, 107, 173, 263, 46)}
each_poem = pytest.mark.parametrize("name", available_texts(*FIGURES))


@cache
def recount_of(name: str) -> Recount:
    words = {(*word, "</w>"): count for word, count in clean_counts(text_of(name)).items()}
    return recount(words, 150, base=sorted({symbol for word in words for symbol in word}))


@each_poem
def test_training_on_a_poem_with_the_clean_words_preset_gives_the_expected_merges(learn: Learn, name: str) -> None:
    words, figures = WordTable.from_counts(clean_counts(text_of(name))), FIGURES[name]
    assert (len(words), words.total) == (figures.distinct, figures.words)
    history = learn(words, Recipe.preset("clean-words"))
    assert merge_rows(history) == recount_of(name).rows
    assert sum(merge.tied for merge in history) == figures.tied
    if name == "data/raven.txt":
        assert merge_rows(history) == [tuple(row) for row in expected("raven_characters.json")["merges"]]
        assert merge_rows(history)[0] == ("e", "</w>", 187)


@each_poem
@pytest.mark.parametrize("encode", ["reference", "engine"])
def test_merging_symbols_in_cleaned_words_leaves_the_expected_token_counts(encode: str, name: str) -> None:
    counts = clean_counts(text_of(name))
    history = reference.train(WordTable.from_counts(counts), Recipe.preset("clean-words"))
    texts = [text.decode() for text in token_texts(history)]
    tokenizer = Tokenizer(history)
    left: Counter[str] = Counter()
    for word, count in counts.items():
        ids = reference.encode_word(word.encode(), history) if encode == "reference" else tokenizer.encode(word)
        for id in ids:
            left[texts[id]] += count
    assert left == recount_of(name).tokens_left()
    assert len(left) == FIGURES[name].tokens_left
    assert left.total() == list(history)[-1].tokens_left
    if name == "data/raven.txt":
        assert left == expected("raven_characters.json")["tokens_left"]


@each_poem
def test_text_replacement_instead_of_symbol_merging_leaves_the_expected_wrong_tokens(name: str) -> None:
    """The code of article B replaces the text `a b` by `ab`.

    So it also changes `xa b` to `xab`, although `a` is only a part of the token `xa` there.
    """
    corpus = {" ".join(word) + " </w>": n for word, n in clean_counts(text_of(name)).items()}
    steps_in_error = 0
    for _ in range(150):
        counts: Counter[tuple[str, str]] = Counter()
        for spaced, n in corpus.items():
            for pair in pairwise(spaced.split()):
                counts[pair] += n
        left, right = max(counts, key=lambda pair: counts[pair])
        by_symbol = re.compile(rf"(?<!\S){re.escape(f'{left} {right}')}(?!\S)")
        replaced = {spaced.replace(f"{left} {right}", left + right): n for spaced, n in corpus.items()}
        steps_in_error += list(replaced) != [by_symbol.sub(left + right, spaced) for spaced in corpus]
        corpus = replaced
    left_over = {symbol for spaced in corpus for symbol in spaced.split()}
    assert (len(left_over), steps_in_error) == FIGURES[name][-2:]


@pytest.mark.parametrize("name", available_texts("poem", "prose", "data/raven.txt"))
def test_the_clean_words_preset_counts_the_same_words_in_the_same_order_as_plain_python(name: str) -> None:
    text = text_of(name)
    counted = count_words(Corpus.from_texts([text]), Recipe.preset("clean-words"))
    assert list(counted) == [(word.encode(), count) for word, count in clean_counts(text).items()]


def test_splitting_by_the_longest_match_and_splitting_by_merge_order_give_different_tokens() -> None:
    words = WordTable.from_counts({"abc": 1})
    history = history_from_texts(words, Recipe.preset("words"), [("b", "c"), ("a", "b")])
    tokenizer = Tokenizer(history)
    assert tokenizer.encode("abc") == reference.encode_word(b"abc", history) != tokenizer.encode_greedy("abc")
    assert tokenizer.encode_greedy("abc") == reference.encode_word_greedily(b"abc", history)
    unknown = history.alphabet.unknown_id
    assert tokenizer.encode_greedy("abxc") == [tokenizer.encode("ab")[0], unknown, tokenizer.encode("c")[0]]


# --- C ----------------------------------------------------------------------------------


def test_training_on_the_words_low_lower_and_lowest_gives_the_expected_merges(learn: Learn) -> None:
    words = WordTable.from_counts({"low": 1, "lower": 1, "lowest": 1})
    history = learn(words, Recipe.preset("words"))
    assert merge_rows(history) == [("l", "o", 3), ("lo", "w", 3), ("low", "e", 2)]
    assert history.end_reason == "too rare"


@pytest.mark.parametrize(("marker", "tokens"), [("none", ["low", "l", "y"]), ("symbol", ["low", "l", "y", "</w>"])])
def test_given_merges_split_the_word_lowly_into_the_expected_tokens(marker: str, tokens: list[str]) -> None:
    # The training text has y as a separate word, so that y is not unknown.
    words = WordTable.from_counts({"low": 1, "lower": 1, "lowest": 1, "y": 1})
    recipe = Recipe.preset("words", marker=marker)
    history = history_from_texts(words, recipe, [("l", "o"), ("lo", "w"), ("low", "e")])
    assert tokens_of("lowly", history) == tokens


def tokens_of(word: str, history: History) -> list[str]:
    """Return the texts of a word's tokens. Check that the reference and the engine agree."""
    ids = reference.encode_word(word.encode(), history)
    assert Tokenizer(history).encode(word) == ids
    texts = token_texts(history)
    return [texts[id].decode() for id in ids]


# --- D ----------------------------------------------------------------------------------

TOY = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
TOY_RULES = [("e", "s"), ("es", "t"), ("est", "</w>"), ("l", "o"), ("lo", "w"), ("low", "</w>")]  # as printed
WITH_MARKER = Recipe.preset("words", marker="symbol")


def test_the_first_five_merges_of_the_toy_corpus_match_a_published_article(learn: Learn) -> None:
    history = learn(WordTable.from_counts(TOY), WITH_MARKER)
    assert merge_rows(history)[:5] == [
        ("e", "s", 9), ("es", "t", 9), ("est", "</w>", 9), ("l", "o", 7), ("lo", "w", 7)
    ]  # fmt: skip


@pytest.mark.parametrize(("ties", "sixth"), [("first-seen", ("n", "e", 6)), ("smallest-text", ("e", "w", 6))])
def test_the_sixth_merge_of_the_toy_corpus_differs_from_the_merge_in_a_published_article(
    learn: Learn, ties: str, sixth: tuple[str, str, int]
) -> None:
    history = learn(WordTable.from_counts(TOY), WITH_MARKER.with_changes(ties=ties))
    assert merge_rows(history)[5] == sixth
    assert merge_rows(history).index(("low", "</w>", 5)) + 1 == 9


def test_three_pairs_of_the_toy_corpus_are_more_frequent_than_the_published_sixth_merge() -> None:
    trainer = Trainer(WordTable.from_counts(TOY), WITH_MARKER)
    trainer.advance(max_merges=5)
    texts = token_texts(trainer.history)
    leading = [(texts[pair.left], texts[pair.right], pair.count) for pair in trainer.candidates(4)]
    assert leading == [(b"n", b"e", 6), (b"e", b"w", 6), (b"w", b"est</w>", 6), (b"low", b"</w>", 5)]


@pytest.mark.parametrize(
    ("word", "tokens"),
    [("lowest", "low est</w>"), ("newest", "n e w est</w>"), ("newer", "n e w e r </w>")],
)
def test_the_six_given_merges_of_the_toy_corpus_split_words_into_the_expected_tokens(word: str, tokens: str) -> None:
    history = history_from_texts(WordTable.from_counts(TOY), WITH_MARKER, TOY_RULES)
    assert tokens_of(word, history) == tokens.split()


CATS = {"cat": 3, "car": 5, "card": 2}


@pytest.mark.parametrize(("marker", "third"), [("symbol", ("car", "</w>", 5)), ("none", ("ca", "t", 3))])
def test_training_on_the_words_cat_and_car_and_card_gives_the_expected_merges(
    learn: Learn, marker: str, third: tuple[str, str, int]
) -> None:
    history = learn(WordTable.from_counts(CATS), Recipe.preset("words", marker=marker))
    assert merge_rows(history)[:3] == [("c", "a", 10), ("ca", "r", 7), third]


def test_two_given_merges_split_the_word_catch_into_the_expected_tokens() -> None:
    words = WordTable.from_counts({"cat": 1, "h": 1})
    history = history_from_texts(words, Recipe.preset("words"), [("a", "t"), ("c", "at")])
    assert tokens_of("catch", history) == ["cat", "c", "h"]


@pytest.mark.parametrize(
    ("marker", "marker_text", "token"),
    [
        ("symbol", "</w>", "low</w>"),
        ("glued", "</w>", "low</w>"),
        ("prefix", "Ġ", "Ġlow"),
        ("prefix", "▁", "▁low"),
    ],
)
def test_the_token_of_a_whole_word_contains_the_word_marker(
    learn: Learn, marker: str, marker_text: str, token: str
) -> None:
    recipe = Recipe.preset("words", marker=marker, marker_text=marker_text)
    history = learn(WordTable.from_counts({"low": 5}), recipe)
    assert token_texts(history)[-1].decode() == token


# --- E ----------------------------------------------------------------------------------


def test_three_merges_encode_the_string_aaabdaaabac_to_the_expected_ids(learn: Learn) -> None:
    history = learn(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", merges=3))
    assert reference.encode_word(b"aaabdaaabac", history) == [258, 100, 258, 97, 99]
    assert Tokenizer(history).encode("aaabdaaabac") == [258, 100, 258, 97, 99]


@pytest.mark.parametrize("name", available_texts("poem", "data/raven.txt"))
def test_training_on_the_raw_bytes_of_a_poem_gives_the_expected_merges(learn: Learn, name: str) -> None:
    text = text_of(name)
    history = learn(WordTable.from_counts({text: 1}), Recipe.preset("raw-bytes", vocab_size=512))
    plain = recount({letters_of(text): 1}, 256, base=BYTES, least=1)
    assert pairs_of(history) == plain.pairs
    ids = Tokenizer(history).encode(text)
    assert ids == reference.encode_word(text.encode(), history) == plain.words[0][0]
    assert len(ids) == list(history)[-1].tokens_left
    assert Tokenizer(history).decode(ids) == text
    if name == "data/raven.txt":
        known = expected("raw_bytes_first_seen.json")["raven.txt"]
        assert pairs_of(history) == [tuple(pair) for pair in known["merges"]]
        assert len(ids) == known["ids_after"] == 2596


def test_overlapping_pairs_in_aaaa_are_counted_three_times_and_merged_twice(learn: Learn) -> None:
    history = learn(WordTable.from_counts({"aaaa": 1}), Recipe.preset("raw-bytes", merges=1))
    assert [(merge.count, merge.tokens_left) for merge in history] == [(3, 2)]
