"""Tests that machine code normalizes texts and finds added tokens as plain Python does."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.formats.sentencepiece_text import packed
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History
from bpe_core.history.joining import NO_PRIORITY, MergePriorities
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.batches import Texts
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.changed_texts import ChangedTexts, changed_texts, unchanged_texts
from bpe_core.segmenting.compiled_encoder import WORDS_AT_FIRST, CompiledEncoder
from bpe_core.segmenting.compiled_methods import CompiledPriorities
from bpe_core.segmenting.cutting import Cutting
from bpe_core.splitting.normalization import normalize
from bpe_core.text.preparation.normalizers import KEPT_APART, Precompiled
from bpe_core.text.preparation.whole_texts import ALL_MARKS, Marks, WholeTexts

MAP = packed({"a": "", "é": "é" * 9, "éa": "b", "日": " ", "日日": "日", "\t": " ", "▁": " x", "x": "▁"})
TABLES = [
    None,
    *(
        Precompiled(base64.b64encode(data).decode(), longest=True, kept=KEPT_APART.join(kept))
        for data, kept in (
            (MAP, ()),
            (MAP, ("éa", "a b", "日日日")),
            (bytes(4), ("  ", "é")),
            (packed({"a": "x  y", "é": "  ", "b": "", "日": " ", "aéb日 x▁\t𝄞aéb日 x▁\t𝄞": "日"}), (" x", "  é")),
            (packed({"bc": "é", "c\u0301": "ć", " b": "_", "yy": "y"}), ("cb",)),
        )
    ),
]

NAMES = ["no table", "table", "kept, too", "only kept", "several spaces", "keys in ASCII"]
LETTERS = "aébcy日 x▁\t\0𝄞\u0301"

HISTORY = History.from_pairs(Recipe.preset("gpt2", merges=2), Alphabet.of_bytes(), [(97, 98), (32, 256)])


@pytest.mark.parametrize("table", TABLES, ids=NAMES)
@given(texts=st.lists(st.text(LETTERS, max_size=9), max_size=4), marks=st.sampled_from(ALL_MARKS))
def test_kernels_give_the_same_normalized_text_as_the_normalizers_applied_one_after_another(
    table: Precompiled | None, texts: list[str], marks: Marks
) -> None:
    chosen = WholeTexts(table, marks)
    if not chosen.steps:
        return
    recipe = Recipe(base="characters", pattern="none", preparation=chosen.steps)
    given_texts = Texts.of(texts)
    normalizer = changed_texts(recipe.preparation)
    assert normalizer is not None
    changed = normalizer.of(given_texts.data, given_texts.edges)
    assert changed is not None
    assert list(Texts(*changed).strings()) == [normalize(text, recipe) for text in texts]


def test_kernels_leave_damaged_character_maps_to_plain_python() -> None:
    broken = WholeTexts(
        Precompiled(base64.b64encode(packed({"a": "é"})[:-2] + b"\xff\0").decode(), longest=True), Marks()
    )
    assert changed_texts(broken.steps) is None
    whole = packed({"a": "é"})
    units = np.frombuffer(whole[4 : 4 + int.from_bytes(whole[:4], "little")], np.uint32)
    inside = whole[:4] + np.where(units == 1 << 31, units + 1, units).astype(np.uint32).tobytes() + "é\0".encode()
    within = ChangedTexts(WholeTexts(Precompiled(base64.b64encode(inside).decode(), longest=True), Marks()))
    assert within.of(np.frombuffer(b"a", np.uint8), np.array([0, 1])) is None


@pytest.mark.parametrize("table", TABLES, ids=NAMES)
@given(texts=st.lists(st.text(LETTERS, max_size=9), max_size=4), marks=st.sampled_from(ALL_MARKS))
def test_the_kernels_for_short_and_for_long_texts_give_equal_ids(
    table: Precompiled | None, texts: list[str], marks: Marks
) -> None:
    """Some texts are too long for the kernel for short texts, or become too long when they are normalized."""
    changes = ChangedTexts(WholeTexts(table, marks))
    encoder = CompiledEncoder(HISTORY, Cutting(HISTORY.recipe))
    for text in [*texts, "é" * 1_500, "a b " * 2_000, *reversed(texts)]:
        data = np.frombuffer(text.encode(), np.uint8)
        changed = changes.of(data, np.array([0, len(data)]))
        assert changed is not None
        short = encoder.ids_of_short(text, 2, changes.table)
        longer = encoder.ids_of_texts(*changed, 2)[0]
        if len(text) < 10:
            assert short is not None
        assert short is None or short.tolist() == longer.tolist()


def test_a_short_text_is_encoded_without_a_copy_if_there_is_no_normalization() -> None:
    encoder = CompiledEncoder(HISTORY, Cutting(HISTORY.recipe))
    for changes, is_copied in ((unchanged_texts(), False), (ChangedTexts(WholeTexts(None, Marks())), True)):
        ids = encoder.ids_of_short("a b", 2, changes.table)
        assert ids is not None
        short = encoder._desks[-1].short
        assert short is not None
        assert short.text.changed.any() == is_copied


def test_the_kernel_for_short_texts_enlarges_a_full_word_cache() -> None:
    encoder = CompiledEncoder(HISTORY, Cutting(HISTORY.recipe))
    changes = ChangedTexts(WholeTexts(None, Marks(shows_blanks=False)))
    texts = [
        "".join(f" {number}" for number in range(first, first + 500)) for first in range(0, 2 * WORDS_AT_FIRST, 500)
    ]
    full = next(text for text in texts if encoder.ids_of_short(text, 2, changes.table) is None)
    longer = encoder.ids(full, 2)  # which makes room
    short = encoder.ids_of_short(full, 2, changes.table)
    assert short is not None
    assert short.tolist() == longer.tolist()


@given(text=st.text("abc<>", max_size=30))
def test_added_tokens_are_found_before_words_are_merged_by_priority(text: str) -> None:
    """The longest added token is found first. It is joined with no other token, even if a piece has the same text."""
    letters = [Symbol(text_part.encode(), text_part.encode(), "character") for text_part in "abc<"]
    seeds = [Symbol(text_part, text_part, "seed") for text_part in (b"ab", b"<a>", b"<a", b"c")]
    alphabet = Alphabet((Symbol(b"<unk>", b"\xef\xbf\xbd", "unknown"), *letters, *seeds))
    pairs = [(1, 2), (9, 3), (1, 1)]  # a+b, ab+c, a+a
    priorities = np.array([NO_PRIORITY] * 9 + [5, 2, 9])
    joining = MergePriorities(priorities=priorities, joins_unknown=True, found_first=(5, 6, 7))
    recipe = Recipe(base="characters", pattern="none", unknown="unk", unknown_text="<unk>", vocab_size=None, merges=3)
    history = History.from_pairs(recipe, alphabet, pairs, joining)
    words = JoinedWords(history)
    assert words.is_plain
    compiled = CompiledPriorities(words, Cutting(recipe)).ids(text, 3).tolist()
    assert compiled == (words.cut(text.encode(), 3).ids if text else [])
