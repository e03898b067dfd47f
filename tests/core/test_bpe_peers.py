"""Tests that other packages learn the same merges and give the same ids as the engine.

The engine uses the tie rule of each package:

byte-alphabet   tokenizers
lowest-ids      rustbpe
largest-text    subword-nmt, with </w> attached to the last character
first-seen      tiktoken's educational code

The tests use real texts, many languages, and hundreds of short texts in which many pairs overlap.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import BYTE_ALPHABET
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.conftest import EXPLORES
from tests.core.learning import learn_fast, token_texts
from tests.core.subword_nmt import CORPORA, Reference, codes_of, reference_of
from tests.shared import available_texts, samples_of, text_of

GPT2 = NAMED_PATTERNS["gpt2"].expression
RANDOM_CASES = 5_000 if EXPLORES else 120
LONGEST = 400_000 if EXPLORES else 200_000  # characters of a real text

Merges = list[tuple[bytes, bytes]]


@lru_cache(maxsize=8)
def our_history(text: str, recipe: Recipe) -> History:
    """Learn a history from a text with a recipe. The history is cached, so that several tests can use it."""
    return learn_fast(count_words(Corpus.from_texts([text]), recipe), recipe)


def our_merges(history: History) -> Merges:
    texts = token_texts(history)
    return [(texts[merge.left], texts[merge.right]) for merge in history]


LANGUAGES = available_texts("made/languages", "data/udhr-languages.txt")
ENGLISH = available_texts("made/english", "data/tinyshakespeare.txt", "data/wikitext2-valid.raw.txt")


@pytest.fixture(params=ENGLISH + LANGUAGES)
def text(request: pytest.FixtureRequest) -> str:
    return samples_of(request.param, LONGEST)


def overlapping_texts(seed: int, letters: tuple[str, ...] = ("a", "ab", "ab ", "aab b", "abc ")) -> Iterator[str]:
    """Yield short texts in which pairs overlap and tie: aaaa, abab, aab aab."""
    rng = random.Random(seed)
    for _ in range(RANDOM_CASES):
        alphabet = rng.choice(letters)
        pieces = ["".join(rng.choices(alphabet, k=rng.randint(1, 6))) * rng.randint(1, 4) for _ in range(6)]
        text = "".join(rng.choices(pieces, k=rng.randint(1, 8))).strip()
        if any(len(word) > 1 for word in text.split()):  # a text without a pair is refused
            yield text


# --- tokenizers -------------------------------------------------------------------------


def stand_ins() -> list[str]:
    """Return for each byte the printable character that byte-level vocabularies write instead of the byte."""
    others = itertools.count(256)
    characters = [""] * 256
    for byte in sorted(range(256), key=BYTE_ALPHABET.__getitem__):
        characters[byte] = chr(byte) if BYTE_ALPHABET[byte] < 188 else chr(next(others))
    return characters


STAND_INS = stand_ins()
BYTE_OF = {character: byte for byte, character in enumerate(STAND_INS)}


def as_stand_ins(text: bytes) -> str:
    return "".join(STAND_INS[byte] for byte in text)


def from_stand_ins(text: str) -> bytes:
    return bytes(BYTE_OF[character] for character in text)


def hugging_face(model: Any) -> Any:
    """Make a tokenizer of the `tokenizers` package that splits as GPT-2 does."""
    tokenizers = pytest.importorskip("tokenizers")
    pre = tokenizers.pre_tokenizers
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre.Sequence(
        [pre.Split(tokenizers.Regex(GPT2), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def hugging_face_merges(text: str, vocab_size: int, min_frequency: int) -> Merges:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = hugging_face(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(from_stand_ins(left), from_stand_ins(right)) for left, right in merges]


def test_the_tokenizers_library_learns_the_same_merges_as_our_trainer(text: str) -> None:
    recipe = Recipe.preset("gpt2", vocab_size=4_000, ties="byte-alphabet")
    assert our_merges(our_history(text, recipe)) == hugging_face_merges(text, 4_000, 2)


def test_the_tokenizers_library_learns_the_same_merges_from_texts_with_overlapping_pairs() -> None:
    for index, text in enumerate(overlapping_texts(seed=1)):
        least = 1 + index % 3
        recipe = Recipe.preset("gpt2", vocab_size=300, min_frequency=least, ties="byte-alphabet")
        assert our_merges(our_history(text, recipe)) == hugging_face_merges(text, 300, least), (text, least)


# --- rustbpe ----------------------------------------------------------------------------


def rustbpe_tokens(text: str, vocab_size: int) -> list[bytes]:
    """Return the joined tokens in the order of learning. The package does not give the pairs."""
    tokenizer = pytest.importorskip("rustbpe").Tokenizer()
    tokenizer.train_from_iterator([text], vocab_size, pattern=GPT2)
    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda item: item[1])
    return [bytes(token) for token, _ in ranks][256:]


def test_rustbpe_learns_the_same_tokens_as_our_trainer(text: str) -> None:
    recipe = Recipe.preset("gpt2", vocab_size=4_000, min_frequency=1, ties="lowest-ids")
    assert token_texts(our_history(text, recipe))[256:] == rustbpe_tokens(text, 4_000)


def test_rustbpe_learns_the_same_tokens_from_texts_with_overlapping_pairs() -> None:
    recipe = Recipe.preset("gpt2", vocab_size=300, min_frequency=1, ties="lowest-ids")
    for text in overlapping_texts(seed=2):
        assert token_texts(our_history(text, recipe))[256:] == rustbpe_tokens(text, 300), text


# --- subword-nmt ------------------------------------------------------------------------

NMT = Recipe(
    pattern="whitespace", base="characters", marker="glued", ties="largest-text", merges=1_000, vocab_size=None
)


def nmt_merges(text: str, merges: int, min_frequency: int) -> Merges:
    return read_codes(codes_of(text, merges, min_frequency))


def read_codes(codes: str) -> Merges:
    header, *rules = codes.splitlines()
    assert header == "#version: 0.2"
    return [(left.encode(), right.encode()) for left, right in (rule.split(" ") for rule in rules)]


@pytest.fixture(params=CORPORA)
def nmt(request: pytest.FixtureRequest) -> Reference:
    return reference_of(request.param)


def test_our_trainer_learns_the_merges_of_the_reference_file_of_subword_nmt(nmt: Reference) -> None:
    assert our_merges(our_history(nmt.corpus, NMT)) == read_codes(nmt.codes)


def test_our_tokenizer_splits_texts_as_shown_in_the_reference_file_of_subword_nmt(nmt: Reference) -> None:
    history = our_history(nmt.corpus, NMT)
    tokenizer = Tokenizer(history)
    texts = [token.decode() for token in token_texts(history)]

    @cache
    def cut_of(word: str) -> str:
        return " ".join((texts[id] + "@@").removesuffix("</w>@@") for id in tokenizer.encode(word))

    cut = [" ".join(map(cut_of, line.split())) for line in nmt.corpus.splitlines()]
    assert cut == [" ".join(line.split()) for line in nmt.cut.splitlines()]


@pytest.mark.parametrize("name", LANGUAGES)
def test_subword_nmt_and_our_trainer_learn_the_same_merges_from_many_languages(name: str) -> None:
    text = text_of(name)[:40_000]
    assert our_merges(our_history(text, NMT.with_changes(merges=400))) == nmt_merges(text, 400, 2)


def test_subword_nmt_and_our_trainer_learn_the_same_merges_from_texts_with_overlapping_pairs() -> None:
    for text in overlapping_texts(seed=3):
        recipe = NMT.with_changes(merges=30)
        assert our_merges(our_history(text, recipe)) == nmt_merges(text, 30, 2), text


# --- tiktoken's educational code --------------------------------------------------------


def educational_tokens(text: str, vocab_size: int) -> list[bytes]:
    train = pytest.importorskip("tiktoken._educational").bpe_train
    return list(train(text, vocab_size, GPT2, visualise=None))[256:]


@pytest.mark.parametrize("name", available_texts("poem", "languages", "data/raven.txt"))
def test_the_educational_code_of_tiktoken_learns_the_same_tokens(name: str) -> None:
    text = text_of(name)[:7_000]
    recipe = Recipe.preset("gpt2", vocab_size=400, min_frequency=1, ties="first-seen")
    assert token_texts(our_history(text, recipe))[256:] == educational_tokens(text, 400)


# --- Encoders given our vocabulary ------------------------------------------------------

Encode = Callable[[str], list[int]]


def tiktoken_encoder(history: History) -> Encode:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {text: id for id, text in enumerate(token_texts(history))}
    encoding = tiktoken.Encoding("ours", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
    return lambda text: list(encoding.encode(text, disallowed_special=()))


def hugging_face_encoder(history: History) -> Encode:
    tokenizers = pytest.importorskip("tokenizers")
    texts = [as_stand_ins(text) for text in token_texts(history)]
    vocabulary = {text: id for id, text in enumerate(texts)}
    model = tokenizers.models.BPE(vocabulary, [(texts[merge.left], texts[merge.right]) for merge in history])
    tokenizer = hugging_face(model)
    return lambda text: list(tokenizer.encode(text).ids)


ENCODERS = {"tiktoken": tiktoken_encoder, "tokenizers": hugging_face_encoder}
each_encoder = pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)

UNSEEN = ("data/wikitext2-test.raw.txt", "data/udhr-languages.txt")
HARD_TEXTS = [
    "",
    " ",
    "  two  spaces \n\n\t and a tab\r\n",
    "naïve café e\u0301 — “quotes” … ½ ² ٣",
    "👩‍👩‍👧‍👦 🏽 \U0001f1e9\U0001f1ea \u200b\u200d\ufeff zero width",
    "\x00\x01\x1f\x7f control",
    "don't we'll I'm they've 'tis 'S",
    "aaaa" * 200 + "abab" * 200,
    "人人生而自由 すべての人間は كل الناس שוויון ทุกคน",
]


@each_encoder
def test_other_libraries_encode_real_texts_with_our_merges_to_the_same_ids(
    text: str, encoder: Callable[..., Encode]
) -> None:
    history = our_history(text, Recipe.preset("gpt2", vocab_size=4_000))
    ours, peers = Tokenizer(history), encoder(history)
    unseen = [text_of(name)[-60_000:] for name in available_texts("made/languages", "code", "prose", *UNSEEN)]
    for sample in (text[:100_000], *unseen, *HARD_TEXTS):
        assert ours.encode(sample) == peers(sample)


@each_encoder
def test_other_libraries_encode_overlapping_pairs_with_our_merges_to_the_same_ids(
    encoder: Callable[..., Encode],
) -> None:
    for learned_from, text in itertools.pairwise(overlapping_texts(seed=4)):
        history = our_history(learned_from, Recipe.preset("gpt2", vocab_size=290, min_frequency=1))
        assert Tokenizer(history).encode(text) == encoder(history)(text), (learned_from, text)


@each_encoder
@pytest.mark.parametrize("name", LANGUAGES)
def test_other_libraries_with_the_first_n_merges_give_the_same_ids_as_the_program_at_step_n(
    name: str, encoder: Callable[..., Encode]
) -> None:
    text = text_of(name)[:40_000]
    history = our_history(text, Recipe.preset("gpt2", vocab_size=1_500))
    ours, at_every_moment = Tokenizer(history), Tokenizer(history).boundaries(text)
    for at in (0, 1, 2, 10, 100, 700, len(history)):
        expected = encoder(history.first(at))(text)
        assert ours.encode(text, at=at) == expected
        assert at_every_moment.tokens(at).ids.tolist() == expected


def test_tiktoken_finds_the_same_allowed_special_tokens_as_the_program() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    names = ("<|endoftext|>", "<|pad|>", "<|end|>of")
    history = our_history(text_of("poem"), Recipe.preset("gpt2", vocab_size=600, special_tokens=names))
    ranks = {text: id for id, text in enumerate(token_texts(history))}
    ids = {name: len(ranks) + j for j, name in enumerate(names)}
    theirs = tiktoken.Encoding("ours", pat_str=GPT2, mergeable_ranks=ranks, special_tokens=ids)
    ours = Tokenizer(history)
    text = "Once<|endoftext|> upon <|pad|><|pad|>\n<|endoftext|midnight <|end|>of <|end|> dreary<|endoftext|>"
    for allowed in ([], [names[0]], names[1:], names):
        assert ours.encode(text, allowed_special=allowed) == theirs.encode(
            text, allowed_special=set(allowed), disallowed_special=()
        )
