"""Tests of replaced tokens: the size and all other ids stay, and new tokens get the ids of the removed tokens.

The library `tokenizers` encodes texts with the new table to the same ids as this program.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.replacing import Replacement, replace
from bpe_core.editing.trimming import costs
from bpe_core.errors import BpeError, NothingToLearn
from bpe_core.formats import open_table, write_history
from bpe_core.history.history import History
from bpe_core.history.ids_in_use import final_numbers
from bpe_core.insight.reachability import unreachable_tokens
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

POEM, CODE = text_of("poem")[:2_000], text_of("code")[:1_500]
TEXT = "the lowest price of a new def, né? <|end|>"
RECIPES = {
    "bytes": Recipe.preset("gpt2", merges=120, special_tokens=("<|end|>",)),
    "characters": Recipe.preset("sentencepiece-like", merges=80, vocab_size=None),
    "wordpiece": Recipe.preset("wordpiece", merges=80, vocab_size=None, special_tokens=("[PAD]",)),
    "unigram": Recipe.preset("unigram", vocab_size=None, merges=40),
}


def with_other_ids(history: History) -> History:
    return history.numbered(np.arange(history.index_count) * 2 + 3)  # a file may leave out ids


def check_replacement(replacement: Replacement, before: History) -> None:
    id_map = IdMap.of(before, replacement.history)
    assert final_numbers(replacement.history) == final_numbers(before)
    assert replacement.history.vocabulary_size == before.vocabulary_size
    assert id_map.old[id_map.gone].tolist() == id_map.new[id_map.added].tolist() == replacement.added.tolist()
    assert (id_map.new[id_map.kept] == id_map.old[id_map.kept]).all()
    assert {*replacement.new_ids} == {*id_map.new[id_map.kept].tolist()}


@pytest.mark.parametrize("kind", RECIPES)
def test_replacing_tokens_keeps_the_vocabulary_size_and_all_other_ids(kind: str) -> None:
    table = with_other_ids(train(Corpus.from_texts([POEM]), RECIPES[kind]))
    corpus = Corpus.from_texts([CODE])
    replacement = replace(corpus, table, 15)
    check_replacement(replacement, table)
    assert len(replacement.removed) == 15
    words = count_words(corpus, table.recipe)
    spent = costs(words, table, replacement.history)
    # In the Unigram table each unknown character has become a token.
    assert spent.now < spent.before or kind == "unigram"
    before, now = Tokenizer(table), Tokenizer(replacement.history)
    assert now.decode(now.encode(POEM)) == before.decode(before.encode(POEM))


@pytest.fixture(scope="module")
def table() -> History:
    return with_other_ids(train(Corpus.from_texts([POEM]), RECIPES["bytes"]))


@settings(max_examples=3)
@given(swap=st.integers(1, 119), text=st.text(max_size=20))
def test_a_table_with_replaced_tokens_gives_the_same_ids_as_the_tokenizers_library(
    table: History, tmp_path_factory: pytest.TempPathFactory, swap: int, text: str
) -> None:
    replacement = replace(Corpus.from_texts([CODE]), table, swap)
    check_replacement(replacement, table)
    assert unreachable_tokens(replacement.history) == {}
    path = tmp_path_factory.mktemp("replaced") / "tokenizer.json"
    write_history(replacement.history, path)
    library = tokenizers.Tokenizer.from_file(str(path))
    now = Tokenizer(replacement.history)
    for sample in (CODE, POEM, text + TEXT):
        ids = now.encode(sample, allowed_special="all")
        assert replacement.history.numbers_of(ids).tolist() == library.encode(sample, add_special_tokens=False).ids
        assert now.decode(ids) == sample


def test_tokens_that_training_on_the_corpus_would_learn_again_are_not_replaced(table: History) -> None:
    replacement = replace(Corpus.from_texts([POEM[:200] + CODE[:200]]), table, 100)
    check_replacement(replacement, table)
    assert 0 < len(replacement.removed) < 100
    assert f"Only {len(replacement.removed)} of the requested 100 tokens" in replacement.sentences[1]
    with pytest.raises(NothingToLearn, match="save more than a new token"):
        replace(Corpus.from_texts([POEM]), table, 100)


def test_impossible_replacements_of_tokens_are_refused_with_an_error_message(table: History) -> None:
    corpus = Corpus.from_texts([CODE])
    blocks = train(Corpus.from_texts(["low lower" * 9]), Recipe.preset("gage"))
    cases = [
        (lambda: replace(corpus, table, 0), BpeError, "number of tokens to swap must be at least 1"),
        (lambda: replace(corpus, table, 121), BpeError, "120 learned tokens, so 121"),
        (lambda: replace(Corpus.from_texts(["x y z"]), table, 5), NothingToLearn, "No token was swapped"),
        (lambda: replace(corpus, blocks, 1), BpeError, "Gage"),
    ]
    for attempt, kind, message in cases:
        with pytest.raises(kind, match=message):
            attempt()


def test_a_replacement_that_would_need_more_characters_than_it_frees_ids_is_refused(tmp_path: Path) -> None:
    texts = ("[UNK]", "a", "##b", "ab", "xyz")
    library = tokenizers.Tokenizer(models.WordPiece({text: id for id, text in enumerate(texts)}, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    library.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(NothingToLearn, match=r"without 1 token, 3 characters .* Swap more than 3 tokens"):
        replace(Corpus.from_texts(["ab aba"]), open_table(tmp_path / "tokenizer.json"), 1)


def test_the_replace_command_reports_how_many_tokens_are_saved_in_each_text(
    table: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, code, poem, out, id_map = (
        tmp_path / name for name in ("old.tokenizer.json", "code.txt", "poem.txt", "new.tokenizer.json", "map.json")
    )
    write_history(table, old)
    code.write_text(CODE, encoding="utf-8")
    poem.write_text(POEM, encoding="utf-8")
    command = ["replace", str(old), "--corpus", str(code), "--held-out", str(poem), "--swap", "30"]
    assert run([*command, "-o", str(out), "--map", str(id_map), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    now = open_table(out).history
    assert final_numbers(now) == final_numbers(table)
    for path in (code, poem):
        words = count_words(Corpus.from_texts([path.read_text(encoding="utf-8")]), table.recipe)
        spent = costs(words, table, now)
        assert report["texts"][next(name for name in report["texts"] if name.endswith(path.name))] == {
            "before": spent.before,
            "after": spent.now,
        }
    rows = json.loads(id_map.read_bytes())
    assert [row["new"] for row in rows if row["old"] is None] == report["ids"]
    assert run([*command, "-o", str(tmp_path / "new.tiktoken")]) == 1
    assert "so old ids would change" in capsys.readouterr().err
    assert not (tmp_path / "new.tiktoken").exists()
