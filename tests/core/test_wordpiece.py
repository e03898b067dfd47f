"""Tests of WordPiece: both rules learn as the specification says, and texts are encoded by the longest
tokens that fit.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn, RecipeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.wordpiece import reference as reference
from bpe_core.methods.wordpiece.cut import WordPieceSegmenter
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.splitting.normalization import normalize
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns, train
from tests.core.random_training import CHARACTER_TIES
from tests.core.random_training import words as tables

# The sentences that Hugging Face's course counts step by step; the test checks the vocabulary of the course.
COURSE = (
    "This is the Hugging Face Course. This chapter is about tokenization. This section shows several tokenizer "
    "algorithms. Hopefully, you will be able to understand how they are trained and generate tokens."
)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    choices: dict[str, Any] = dict(
        wordpiece_rule=draw(st.sampled_from(["count", "score"])),
        merges=draw(st.integers(0, 60)),
        min_frequency=draw(st.integers(1, 3)),
        max_token_length=draw(st.none() | st.integers(2, 6)),
        alphabet_limit=draw(st.none() | st.integers(1, 3)),
        ties=draw(st.sampled_from(CHARACTER_TIES)),
        longest_word=draw(st.sampled_from([3, 100])),
        pattern=draw(st.sampled_from(["bert", "whitespace"])),
    )
    return Recipe.preset("wordpiece", **choices)


def learned(words: WordTable, recipe: Recipe) -> History:
    trainer = Trainer(words, recipe)
    trainer.advance()
    return trainer.history


def has_a_pair(words: WordTable, recipe: Recipe) -> bool:
    alphabet = Alphabet.with_continuations(words, recipe)
    spelled = [alphabet.symbols_of(word, recipe) for word, _ in words]
    merging = [[alphabet.symbols[symbol].merges for symbol in word] for word in spelled]
    return any(left_symbol and right_symbol for word in merging for left_symbol, right_symbol in pairwise(word))


@given(words=tables(), recipe=recipes())
def test_wordpiece_training_makes_the_same_steps_as_the_specification(words: WordTable, recipe: Recipe) -> None:
    if not has_a_pair(words, recipe):
        with pytest.raises(NothingToLearn, match="No word of this text has two characters"):
            Trainer(words, recipe)
        return
    expected, history = reference.train(words, recipe), learned(words, recipe)
    assert all_columns(history) == all_columns(expected)
    assert (history.alphabet, history.end_reason, history.tokens_at_start) == (
        expected.alphabet,
        expected.end_reason,
        expected.tokens_at_start,
    )
    assert history.tied.tolist() == expected.tied.tolist()
    assert {name: column.tolist() for name, column in history.reasons.items()} == {
        name: column.tolist() for name, column in expected.reasons.items()
    }


@given(words=tables(), recipe=recipes(), data=st.data())
def test_wordpiece_training_can_be_resumed_from_any_step(words: WordTable, recipe: Recipe, data: st.DataObject) -> None:
    if not has_a_pair(words, recipe):
        return
    whole = learned(words, recipe)
    begun = whole.first(data.draw(st.integers(0, len(whole))))
    again = Trainer(words, recipe, history=begun)
    again.advance()
    assert all_columns(again.history) == all_columns(whole)
    stepwise = Trainer(words, recipe)
    while not stepwise.advance(max_merges=1).finished:
        expected = [(candidate.left, candidate.right, candidate.count) for candidate in stepwise.candidates(4)]
        assert len(set(expected)) == len(expected)
    assert all_columns(stepwise.history) == all_columns(whole)


@given(
    words=tables(),
    recipe=recipes(),
    text=st.text("ab é漢w#😀low er", max_size=20) | st.text("#lo we", max_size=20),
    data=st.data(),
)
def test_wordpiece_encoding_at_any_step_matches_the_specification(
    words: WordTable, recipe: Recipe, text: str, data: st.DataObject
) -> None:
    history, text = reference.train(words, recipe), text + " " + words.word(0).decode()
    at = data.draw(st.integers(0, len(history)), label="at")
    tokenizer = Tokenizer(history)
    expected = reference.encode(text, history, at=at)
    assert tokenizer.encode(text, at=at) == expected
    compiled = WordPieceSegmenter(history, Cutting(recipe)).make_kernels()
    assert compiled.ids(normalize(text, recipe), at).tolist() == expected
    assert compiled.ids(long := f"{text} " * 40, at).tolist() == reference.encode(long, history, at=at)
    segmentation = tokenizer.segmentation(text)
    for step in (at, len(history), at):
        assert segmentation.tokens(step).spans()[:, 2].tolist() == reference.encode(text, history, at=step)


def test_training_wordpiece_on_the_corpus_of_the_hugging_face_course_gives_the_published_tokens() -> None:
    """In a tie, Hugging Face's course and the program merge the pair that occurs first.

    Both also merge pairs that occur only once. The program's vocabulary has twelve more tokens: each character
    also gets a token for the beginning of words, even if no word begins with it. The trainer of the tokenizers
    library does the same.
    """
    specials, begin_no_word = ("[PAD]", "[CLS]", "[SEP]", "[MASK]"), "defklmnoprvz"
    recipe = Recipe.preset("wordpiece", vocab_size=70 + 12, min_frequency=1, special_tokens=specials)
    history = train(Corpus.from_texts([COURSE]), recipe)
    texts = TokenTexts.of(history).text
    first = history[0]
    assert (texts[first.left], texts[first.right], first.index) == ("a", "##b", len(history.alphabet))
    assert Fraction(first.count, first.reasons["left_count"] * first.reasons["right_count"]) == Fraction(1, 5)
    inside = [f"##{letter}" for letter in "abcdefghiklmnoprstuvwyz"]
    assert {texts[id] for id in range(len(history.alphabet))} == {
        *("[UNK]", *",.CFHTabcghistuwy", *inside, *begin_no_word)
    }
    made = "ab ##fu Fa Fac ##ct ##ful ##full ##fully Th ch ##hm cha chap chapt ##thm Hu Hug Hugg sh th is ##thms"
    assert [texts[id] for id in history.indices.tolist()] == f"{made} ##za ##zat ##ut".split()
    cut = Tokenizer(history).encode("This is the Hugging Face course!")
    expected = "Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]"
    assert [texts[id] for id in cut] == expected.split()


def test_the_example_of_the_wordpiece_article_is_decided_by_the_score() -> None:
    """The score 100 / (500 * 800) is larger than the score 50 / (10,000 * 5,000). Neither score is an integer."""
    words = {"ab": 100, "a": 400, "xb": 700, "cd": 50, "c": 9_950, "yd": 4_950}
    by = {
        rule: Recipe.preset("wordpiece", wordpiece_rule=rule, merges=4, pattern="whitespace")
        for rule in ("score", "count")
    }
    texts = {}
    for rule, recipe in by.items():
        history = learned(WordTable.from_counts(words), recipe)
        shown = TokenTexts.of(history).text
        texts[rule] = [shown[id] for id in history.indices.tolist()]
    assert texts["score"].index("ab") < texts["score"].index("cd")
    assert texts["count"] == ["yd", "xb", "ab", "cd"]


def test_decoded_wordpiece_tokens_have_blanks_between_words() -> None:
    recipe = Recipe.preset("bert", vocab_size=200)
    tokenizer = Tokenizer(train(Corpus.from_texts([COURSE]), recipe))
    assert tokenizer.decode(tokenizer.encode("[CLS]Hugging, tokens!", allowed_special="all")) == (
        "[CLS] hugging , tokens [UNK]"
    )
    assert tokenizer.encode("x" * 101) == [0]


def test_a_wordpiece_vocabulary_smaller_than_its_alphabet_is_refused_with_an_error_message() -> None:
    with pytest.raises(RecipeError, match="has no room for the 49 base symbols and 4 special tokens"):
        train(Corpus.from_texts([COURSE]), Recipe.preset("bert", vocab_size=20))
    with pytest.raises(NothingToLearn, match="no words"):
        train(Corpus.from_texts([" \n"]), Recipe.preset("bert"))


def test_the_length_of_a_wordpiece_token_does_not_count_its_continuing_prefix() -> None:
    history = train(Corpus.from_texts(["lower lowest newer newest"]), Recipe.preset("wordpiece", vocab_size=40))
    names, specials = TokenTexts.of(history), len(history.recipe.special_tokens)
    assert any(text.startswith("##") for text in names.text)
    for text, length in list(zip(names.text, names.lengths, strict=True))[specials:]:
        assert length == len(text.removeprefix("##")), text
