"""Tests of the explanation of Gage's compressor.

The explained tokens agree with the encoding, and together they give the text.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.gage import reference as gage
from bpe_core.methods.gage.explain import WhyGage
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from tests.core.gage_texts import recipes, words


@settings(max_examples=25)
@given(words=words(), recipe=recipes(), text=st.text("abc low", min_size=1, max_size=30), data=st.data())
def test_gage_explanations_report_a_boundary_exactly_where_the_text_is_split(
    words: WordTable, recipe: Recipe, text: str, data: st.DataObject
) -> None:
    history = gage.train(words, recipe)
    why, names = WhyGage(text, history), TokenTexts.of(history).text
    spans = Tokenizer(history).spans
    at = data.draw(st.integers(0, len(history)))
    edges = {start: id for start, _, id in spans(text, at)}
    for byte in range(len(text.encode()) + 1):
        reason = why.explanation_at(byte, at)
        assert reason.is_cut == (byte in edges or byte == len(text.encode()))
        assert reason.sentence.endswith(".")
        if reason.kind == "later":
            (step,) = reason.steps
            assert step > at
            assert byte not in {start for start, _, _ in spans(text, step)}
        elif reason.kind in ("joined", "never"):
            assert f"`{names[edges[max(start for start in edges if start <= byte)]]}`" in reason.sentence
        for way in reason.ways:
            assert way.title == f"0x{history.reasons['byte'][(way.step or 0) - 1]:02X}"


def test_the_explanation_of_a_long_chain_of_byte_pairs_is_shortened() -> None:
    history = gage.train(WordTable.from_counts({"abcdefghijklmnopqrstuvwxyz" * 6: 1}), Recipe.preset("gage"))
    why = WhyGage("abcdefghijklmnopqrstuvwxyz", history)
    sentence = why.explanation_at(13, len(history)).sentence
    assert "and so on" in sentence
    assert len(sentence) < 600
    assert why.explanation_at(13, 0).sentence == "Nothing has been replaced yet, so `m` and `n` are separate."
    other = WhyGage("a.b", history).explanation_at(1, len(history))
    assert other.sentence.startswith("In block 1 no byte replaces a pair")
    assert why.explanation_at(2, 1).sentence.endswith("which spans this position, from step 2 on.")
