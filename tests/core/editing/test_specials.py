"""Tests of special tokens that are renamed, added or removed.

Other tokens keep their ids, and the library `tokenizers` gives the same ids.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.editing.specials import special_ids
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

SPECIALS = ("<end>", "<spare>", "<pad>")
NAMES = (*SPECIALS, "<a>", "<b>", "two words", "é")


@pytest.fixture(scope="module")
def learned_table() -> History:
    recipe = Recipe.preset("gpt2", merges=30, special_tokens=SPECIALS)
    return train(Corpus.from_texts([text_of("poem")[:2_000]]), recipe)


@given(
    names=st.lists(st.sampled_from(NAMES), min_size=3, max_size=3, unique=True),
    add=st.lists(st.sampled_from(["<new>", "<other>"]), unique=True),
    gone=st.sets(st.sampled_from(range(3))),
    shift=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_ids_stay_the_same_when_special_tokens_are_renamed_and_added_and_removed(
    learned_table: History, names: list[str], add: list[str], gone: set[int], shift: int
) -> None:
    history = learned_table.numbered(learned_table.numbers_of(range(learned_table.index_count)) + shift)
    before = special_ids(history)
    rename = {old: new for place, (old, new) in enumerate(zip(SPECIALS, names, strict=True)) if place not in gone}
    remove = [SPECIALS[place] for place in gone]
    done = bpe.change_specials(history, rename=rename, add=add, remove=remove)
    largest = int(history.numbers_of(range(history.index_count)).max())
    expected = {rename[text]: id for text, id in before.items() if text in rename}
    expected |= {text: largest + 1 + place for place, text in enumerate(add)}
    assert special_ids(done.history) == expected
    assert done.removed == {text: before[text] for text in remove}
    study, former_study = bpe.Study(done.history), bpe.Study(history)
    assert study.encode("the lowest") == former_study.encode("the lowest")
    assert len(study) == len(former_study) + len(add) - len(remove)
    for text, id in expected.items():
        assert study.encode(f"low{text}low", allowed_special="all") == [*study.encode("low"), id, *study.encode("low")]


def test_merge_counts_stay_the_same_when_special_tokens_change(learned_table: History) -> None:
    done = bpe.change_specials(learned_table, rename={"<spare>": "<user>"})
    assert done.history.columns.count.tolist() == learned_table.columns.count.tolist()
    assert done.history.has_counts


def test_a_renamed_special_token_keeps_its_matching_rules_in_the_tokenizers_library(tmp_path: Path) -> None:
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        [text_of("poem")], trainers.BpeTrainer(vocab_size=280, initial_alphabet=alphabet, show_progress=False)
    )
    made.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True), "<end>"])
    made.add_tokens([tokenizers.AddedToken("plain", single_word=True)])
    made.save(str(tmp_path / "tokenizer.json"))
    words = ["--rename", "<mask>=<hole>", "--rename", "plain=simple", "-o", str(tmp_path / "new.tokenizer.json")]
    assert run(["specials", str(tmp_path / "tokenizer.json"), *words]) == 0
    now = tokenizers.Tokenizer.from_file(str(tmp_path / "new.tokenizer.json"))
    study = bpe.open(tmp_path / "new.tokenizer.json")
    for text in ("low  <hole> simple", "simpler <mask><end>"):
        assert study.encode(text) == now.encode(text).ids
    assert now.encode("low  <hole> simple").ids == made.encode("low  <mask> plain").ids
    flags = {token.content: (token.lstrip, token.special) for token in now.get_added_tokens_decoder().values()}
    assert flags == {"<hole>": (True, True), "<end>": (False, True), "simple": (False, False)}


def test_invalid_changes_of_special_tokens_are_refused_with_an_error_message(learned_table: History) -> None:
    mistakes = {
        "no special token “<none>” to remove; the special tokens are “<end>”": {"remove": ["<none>"]},
        "A token “<pad>” exists already": {"rename": {"<spare>": "<pad>"}},
        "A token “ning” exists already": {"add": ["ning"]},
        "no token “<none>” to rename": {"rename": {"<none>": "<a>"}},
        "is both renamed and removed": {"rename": {"<pad>": "<a>"}, "remove": ["<pad>"]},
        "cannot become a special token": {"rename": {"t": "<t>"}},
        "Choose a larger first id": {"add": ["<a>"], "first_id": 3},
    }
    assert b"ning" in bpe.Study(learned_table).tokens.values()
    for sentence, choices in mistakes.items():
        with pytest.raises(BpeError, match=sentence):
            bpe.change_specials(learned_table, **choices)  # type: ignore[arg-type]


@pytest.fixture
def unigram(tmp_path: Path) -> tokenizers.Tokenizer:
    """Make a Unigram file, in which each special token is also a piece."""
    made = tokenizers.Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=80, special_tokens=["<s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator([text_of("poem")], trainer)
    made.save(str(tmp_path / "tokenizer.json"))
    return made


@pytest.mark.parametrize("renamed", ["<s>", "<unk>"])
def test_a_special_token_that_is_also_a_piece_of_unigram_is_renamed(
    renamed: str, unigram: tokenizers.Tokenizer, tmp_path: Path
) -> None:
    done = bpe.change_specials(bpe.open(tmp_path / "tokenizer.json"), rename={renamed: "<new>"})
    bpe.save(done, tmp_path / "new.tokenizer.json")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "new.tokenizer.json"))
    assert library.token_to_id("<new>") == unigram.token_to_id(renamed)
    assert library.token_to_id(renamed) is None
    study = bpe.Study.of(done)
    for text in (f"the <new> {renamed} of", "a ☃ snowman"):
        assert study.encode(text) == library.encode(text).ids


@pytest.mark.usefixtures("unigram")
def test_a_removed_special_token_that_is_also_a_piece_is_reported_and_can_be_trimmed(tmp_path: Path) -> None:
    done = bpe.change_specials(bpe.open(tmp_path / "tokenizer.json"), remove=["<s>"])
    assert "“<s>” is still an ordinary token of the vocabulary" in done.sentences[-1]
    trimmed = bpe.Study.of(bpe.trim(done, [done.removed["<s>"]]))
    assert trimmed.token_to_id("<s>") is None


def test_two_special_tokens_can_swap_their_names(learned_table: History) -> None:
    done = bpe.change_specials(learned_table, rename={"<pad>": "<end>", "<end>": "<pad>"})
    before = special_ids(learned_table)
    assert special_ids(done.history) == {
        "<pad>": before["<end>"],
        "<spare>": before["<spare>"],
        "<end>": before["<pad>"],
    }


def test_the_specials_command_lists_and_changes_special_tokens(
    learned_table: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(tmp_path / "t.tokenizer.json")
    bpe.save(learned_table, table)
    assert run(["specials", table, "--json"]) == 0
    first = learned_table.first_special
    assert json.loads(capsys.readouterr().out)[1] == {"id": first + 1, "text": "<spare>", "roles": []}
    out = str(tmp_path / "n.tokenizer.json")
    words = ["--rename", "<spare>=<a=b>", "--add", "<c>", "--remove", "<pad>"]
    assert run(["specials", table, *words, "-o", out, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["renamed"], report["added"], report["removed"]) == (
        {"<spare>": "<a=b>"},
        {"<c>": first + 3},
        {"<pad>": first + 2},
    )
    assert run(["specials", out, "--rename", "<a=b>=<d>", "-o", out]) == 0
    assert [*special_ids(bpe.open(out))] == ["<end>", "<d>", "<c>"]
    for arguments, sentence in (
        ([table, "--add", "<x>"], "Say with -o"),
        ([table, "-o", out], "Say what to change"),
        ([table, "--rename", "<pad>", "-o", out], "write OLD=NEW"),
    ):
        assert run(["specials", *arguments]) == 1
        assert sentence in capsys.readouterr().err
