"""Tests that every function shows the ids of the tokenizer's file, whatever the order of special tokens and
unused ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.asking import NONE, ask_about
from bpe_core.command_line.main import run
from bpe_core.editing.without_tokens import numbers_of
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.questions import QUESTIONS, question_named
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.texts import texts_of
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

POEM = "the lowest of the low, the newest of the new; the widest is wider than the wide " * 3
OTHER = "a slow widow knows the news of the house, and the hostess is the newest widow " * 3
SPECIALS = ("<|end|>", "<pad>")
QUESTION: Any = bpe

# The arguments that each question needs besides a study. Other questions need none.
PARAMETERS: dict[str, dict[str, Any]] = {
    "look": {"text": "the lowest widow é"},
    "why": {"text": "the lowest widow"},
    "paid": {"step": 2},
    "pairs": {"at": 3},
    "race": {"steps": (2, 3)},
    "token": {"token": "␣the"},
    "tree": {"text": "lowest"},
    "ways": {"text": "the lowest", "draws": 2},
    "benchmark": {"texts": [POEM]},
    "curves": {"held_out": [OTHER]},
    "floor": {"seconds": 0.1, "sizes": (270,)},
}
ELSEWHERE = {"blocks", "languages", "overlap", "supermerges", "mixture"}  # these questions need other methods or groups
WITH_IDS = {"audit", "diff", "look", "pairs", "race", "ranks", "steps", "ties", "token", "tree"}


class NumberedTable(NamedTuple):
    """A table whose ids in the file differ from the engine's indices, together with the library that reads the file."""

    study: bpe.Study
    library: tokenizers.Tokenizer


@pytest.fixture(scope="module")
def learned_table() -> History:
    return train(Corpus.from_texts([POEM]), Recipe.preset("gpt2", vocab_size=290, special_tokens=SPECIALS))


def study_with_ids(history: History, numbers: np.ndarray[Any, Any]) -> bpe.Study:
    return bpe.Study(history.numbered(numbers), texts_of([POEM]), texts_are_own=True)


def open_in_library(study: bpe.Study, folder: Path) -> tokenizers.Tokenizer:
    study.save(folder / "tokenizer.json")
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


def numberings(count: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """Draw ids for `count` tokens in any order. Special tokens come first or anywhere, and some ids are unused."""

    def drawn(seed: int, are_specials_first: bool, most_left_out: int) -> np.ndarray[Any, Any]:
        chance = np.random.default_rng(seed)
        order = np.roll(np.arange(count), -len(SPECIALS)) if are_specials_first else chance.permutation(count)
        return order + np.cumsum(chance.integers(0, most_left_out + 1, count))[order]

    return st.builds(drawn, st.integers(0, 2**32), st.booleans(), st.integers(0, 3))


@pytest.fixture
def hugging_face(tmp_path: Path) -> NumberedTable:
    """Train a tokenizer with the library `tokenizers`, and return the table of its file.

    The trainer of the library gives the first ids to special tokens.
    """
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=[*SPECIALS], initial_alphabet=alphabet, show_progress=False
    )
    library.train_from_iterator([POEM, OTHER], trainer)
    library.save(str(tmp_path / "tokenizer.json"))
    return NumberedTable(bpe.open(tmp_path / "tokenizer.json").with_texts([POEM, OTHER]), library)


def ids_and_texts(answer: bpe.Answer) -> Iterator[tuple[int, str]]:
    """Yield each id of an answer with the text of the same row."""
    columns = answer.columns
    for name, ids in columns.items():
        if name == "id" or name.endswith("_id"):
            beside = name.removeprefix("other_").removesuffix("id") + "text"
            texts = columns[beside] if beside in columns else columns["token"]
            yield from ((id, text) for id, text in zip(ids, texts, strict=True) if id is not None)


def ask_with_examples(name: str, study: bpe.Study) -> bpe.Answer:
    question = question_named(name)
    several = question.studies is not None
    given: Any = (
        {"one": study, "other": study.at(5)} if name in ("diff", "idmap") else {"one": study} if several else study
    )
    parameters = {"ids": tuple(study.encode("the lowest widow"))} if name == "canonical" else PARAMETERS.get(name, {})
    return ask_about(question, given, **parameters)


@settings(max_examples=6)
@given(data=st.data())
def test_every_question_shows_the_ids_of_the_opened_file(learned_table: History, data: st.DataObject) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    with_ids = set()
    about_studies = {name for name in QUESTIONS if question_named(name).studies is not NONE}
    for name in sorted(about_studies - ELSEWHERE):
        for id, text in ids_and_texts(ask_with_examples(name, study)):
            assert study.names[id] == text, name
            with_ids.add(name)
    assert with_ids >= WITH_IDS


@settings(max_examples=15)
@given(data=st.data())
def test_a_study_has_a_text_and_a_name_for_each_id_that_it_returns(learned_table: History, data: st.DataObject) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    assert (
        set(study.names)
        == set(study.tokens)
        == set(study.history.numbers_of(range(learned_table.index_count)).tolist())
    )
    text = data.draw(st.text(max_size=12)) + "the lowest widow"
    ids = study.encode(text)
    assert study.decode(ids) == text
    assert b"".join(study.tokens[id] for id in ids) == text.encode()
    assert [span.id for span in study.spans(text)] == ids
    assert [study.names[id] for id in ids] == [span.text for span in study.spans(text)]
    assert study.encode_batch([text, text])[0].tolist() == [*ids, *ids]
    assert study.inside.columns(ids)["id"] == ids
    assert study.inside.columns(ids)["text"] == [study.names[id] for id in ids]
    for id in set(ids):
        assert study.id_of(f"#{id}") == id
        assert study.tokens[study.id_of(study.names[id])] == study.tokens[id]
        (sentence_with_id,) = (
            sentence for sentence in QUESTION.token(study, token=f"#{id}").sentences if " (id " in sentence
        )
        assert f"(id {id:,}" in sentence_with_id
    assert study.inside.pair_name((ids[0], ids[1])) == f"{study.names[ids[0]]} + {study.names[ids[1]]}"
    assert study.inside.pair_columns([(ids[0], ids[1])])["right_id"] == [ids[1]]
    assert study.encode(text) == ids
    assert study.at(len(study.history)).encode(text) == ids


@settings(max_examples=10)
@given(data=st.data())
def test_trimming_removes_tokens_by_their_file_ids_and_reports_new_ids(
    learned_table: History, data: st.DataObject
) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    joined = [id for id in study.names if len(study.tokens[id]) > 1]
    chosen = data.draw(st.sets(st.sampled_from(joined), min_size=1, max_size=6))
    renumber = data.draw(st.booleans())
    trimmed = bpe.trim(study, chosen, needed="lose", renumber=renumber)
    now = bpe.Study(trimmed.history)
    assert set(trimmed.asked) == chosen
    assert set(trimmed.removed) | set(trimmed.new_ids) == set(study.tokens)
    assert set(trimmed.removed).isdisjoint(trimmed.new_ids)
    for old, new in trimmed.new_ids.items():
        assert now.tokens[new] == study.tokens[old]
        assert renumber or new == old
    assert all(study.tokens[id] not in now.tokens.values() for id in chosen)


@settings(max_examples=10)
@given(data=st.data())
def test_renaming_and_adding_special_tokens_keeps_all_ids(learned_table: History, data: st.DataObject) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    changed = bpe.change_specials(study, rename={"<pad>": "<space>"}, add=["<new>"])
    now = bpe.Study(changed.history)
    expected = {id: b"<space>" if text == b"<pad>" else text for id, text in study.tokens.items()}
    assert {id: now.tokens[id] for id in study.tokens} == expected
    (added,) = now.tokens.keys() - study.tokens.keys()
    assert now.tokens[added] == b"<new>"
    assert f"{added:,}" in " ".join(changed.sentences)


@settings(max_examples=3)
@given(data=st.data())
def test_a_tokenizer_folder_written_by_the_program_gives_the_same_ids_as_the_opened_file(
    learned_table: History, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    folder = tmp_path_factory.mktemp("delivered") / "model"
    bpe.deliver(study, folder, eos="<|end|>", pad="<pad>")
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert library.encode(OTHER).ids == study.encode(OTHER)
    assert {library.token_to_id(token) for token in SPECIALS} == {study.id_of(token) for token in SPECIALS}


@settings(max_examples=3)
@given(data=st.data())
def test_encoded_shards_use_the_ids_of_the_opened_tokenizer_file(
    learned_table: History, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    folder = tmp_path_factory.mktemp("encoded") / "shards"
    end = study.id_of("<|end|>")
    bpe.encode_documents(study, [POEM, OTHER], folder, eos=end)
    (shard,) = folder.glob("*.npy")
    assert np.load(shard).tolist() == [*study.encode(POEM), end, *study.encode(OTHER), end]


PUBLIC: list[str] = QUESTION.__all__
# Functions that these tests call on files with any ids, and functions whose arguments and results hold no ids.
TRIED = {
    "ask",
    "change_specials",
    "deliver",
    "encode_documents",
    "extend",
    "open",
    "put_together",
    "save",
    "train",
    "trim",
}
WITHOUT_IDS = {"check_method", "count_words", "draw", "film", "share_lessons", "write_data"}
TRIED_ELSEWHERE = {"read_id_map", "write_id_map", "replace"}  # in tests/core/test_delivery.py and tests/core/editing
TRIED_ON_PAGES = {"share"}  # in tests/core/sharing/test_run_page.py, by the tables of other libraries


def test_the_tests_of_file_ids_cover_every_public_function() -> None:
    public = {name for name in PUBLIC if callable(getattr(bpe, name)) and not isinstance(getattr(bpe, name), type)}
    assert public - {*QUESTIONS} == TRIED | WITHOUT_IDS | TRIED_ON_PAGES | TRIED_ELSEWHERE
    assert {*QUESTIONS} >= ELSEWHERE | WITH_IDS | {*PARAMETERS}


@pytest.mark.parametrize(("old", "new"), [("ids", "indices"), ("id_count", "index_count"), ("ids_of", "indices_of")])
def test_former_names_of_index_attributes_cause_warnings_that_give_the_new_names(
    learned_table: History, old: str, new: str
) -> None:
    with pytest.warns(DeprecationWarning, match=f"History.{old} is called History.{new} now"):
        assert np.array_equal(getattr(learned_table, old), getattr(learned_table, new))
    with pytest.warns(DeprecationWarning, match=r"Step\.id is called Step\.index now"):
        assert getattr(learned_table[3], "id") == learned_table[3].index  # noqa: B009  # mypy knows no such name


def test_every_id_of_a_study_is_the_same_as_in_the_tokenizers_library(hugging_face: NumberedTable) -> None:
    study, library = hugging_face
    assert study.history.numbers is not None
    for id, text in study.tokens.items():
        assert library.decode([id], skip_special_tokens=False) == text.decode(errors="replace")
    for token in ("Ġwid", "Ġthe", "Ġwidow", "<pad>"):
        assert study.id_of(token.replace("Ġ", "␣")) == library.token_to_id(token)
    assert study.encode(OTHER) == library.encode(OTHER).ids


def id_of(library: tokenizers.Tokenizer, token: str) -> int:
    id = library.token_to_id(token)
    assert id is not None
    return id


def test_the_tokenizers_library_does_not_know_a_token_that_was_trimmed_by_file_id(
    hugging_face: NumberedTable, tmp_path: Path
) -> None:
    """An earlier version removed the wrong token if the special tokens came first."""
    study, library = hugging_face
    trimmed = bpe.trim(study, [id_of(library, "Ġwidow")])
    bpe.Study(trimmed.history).save(tmp_path / "trimmed.tokenizer.json")
    now = tokenizers.Tokenizer.from_file(str(tmp_path / "trimmed.tokenizer.json"))
    assert now.token_to_id("Ġwidow") is None
    before, after = library.get_vocab(), now.get_vocab()
    assert before.keys() - after.keys() == {"Ġwidow"}
    assert {old: after[text] for text, old in before.items() if old in trimmed.new_ids} == trimmed.new_ids


def test_the_trim_command_and_the_trim_function_give_equal_tokens(hugging_face: NumberedTable, tmp_path: Path) -> None:
    study, library = hugging_face
    id, out = id_of(library, "Ġwidow"), tmp_path / "out.tokenizer.json"
    assert run(["trim", str(tmp_path / "tokenizer.json"), "--remove", str(id), "-o", str(out)]) == 0
    assert bpe.open(out).tokens == bpe.Study(bpe.trim(study, [id]).history).tokens


def test_extending_and_joining_report_new_tokens_by_their_file_ids(hugging_face: NumberedTable) -> None:
    study = hugging_face.study
    grown = bpe.extend(Corpus.from_texts([OTHER]), study, 5, min_frequency=1)
    now = bpe.Study(grown.history)
    assert set(grown.added.tolist()) == now.tokens.keys() - study.tokens.keys()
    assert grown.new_ids == {id: id for id in study.tokens}
    both = bpe.Study(bpe.put_together(study, bpe.train([OTHER], "gpt2", vocab_size=280)).history)
    assert {id: both.tokens[id] for id in study.tokens} == study.tokens


@settings(max_examples=5)
@given(data=st.data())
def test_renumbered_tokenizer_files_keep_their_new_ids_when_they_are_read(
    learned_table: History, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("renumbered")
    study = study_with_ids(learned_table, data.draw(numberings(learned_table.index_count)))
    library = open_in_library(study, folder)
    opened = bpe.open(folder / "tokenizer.json")
    assert opened.tokens == study.tokens
    text = data.draw(st.text(max_size=12)) + OTHER
    assert opened.encode(text) == library.encode(text).ids
    for name in ("csv", "json"):
        study.save(folder / f"again.{name}")
        assert bpe.open(folder / f"again.{name}").tokens == study.tokens


@pytest.fixture
def file_with_shared_id(tmp_path: Path) -> NumberedTable:
    """Make a Unigram file in which the unknown token has the same id as a piece."""
    pieces = [["<unk>", 0.0], ["ab", -1.5], ["a", -1.0], ["b", -2.0], ["ba", -9.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))
    study = bpe.open(tmp_path / "tokenizer.json")
    return NumberedTable(study, tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")))


def test_tokens_that_share_an_id_are_shown_with_the_text_that_decoding_gives(
    file_with_shared_id: NumberedTable,
) -> None:
    study, library = file_with_shared_id
    assert len(numbers_of(study.history)) > len(study.tokens) == 5
    for text in ("ab", "xab<unk>ba", "aab"):
        assert study.encode(text) == library.encode(text).ids
        assert [span.id for span in study.spans(text)] == library.encode(text).ids
    assert {id: text.decode() for id, text in study.tokens.items()} == {id: study.decode([id]) for id in study.tokens}
    assert bpe.trim(study, [1, 4]).new_ids == {0: 0, 2: 1, 3: 2}


@pytest.fixture
def wordpiece_in_order(tmp_path: Path) -> NumberedTable:
    """Make a WordPiece file whose ids equal the engine's indices, although its special tokens come last."""
    texts = ("[UNK]", "a", "b", "c", "##a", "##b", "##c", "ab", "##bc", "abc", "[PAD]", "[CLS]")
    path = tmp_path / "tokenizer.json"
    library = tokenizers.Tokenizer(models.WordPiece({text: id for id, text in enumerate(texts)}, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    library.decoder = decoders.WordPiece()
    library.add_special_tokens(["[UNK]", "[PAD]", "[CLS]"])
    library.save(str(path))
    return NumberedTable(bpe.open(path), library)


@pytest.mark.parametrize(
    "change",
    [
        lambda study, corpus: bpe.change_specials(study, add=["<new>"]),
        lambda study, corpus: bpe.change_specials(study, rename={"[CLS]": "<new>"}),
        lambda study, corpus: bpe.trim(study, [study.token_to_id("##bc")]),
        lambda study, corpus: bpe.extend(corpus, study, by=1),
        lambda study, corpus: bpe.replace(corpus, study, swap=1),
        lambda study, corpus: bpe.put_together(study, study),
    ],
    ids=["add", "rename", "trim", "extend", "replace", "put together"],
)
def test_a_changed_wordpiece_table_is_saved_with_the_ids_that_it_shows(
    change: Any, wordpiece_in_order: NumberedTable, tmp_path: Path
) -> None:
    study = wordpiece_in_order.study
    assert study.history.numbers is not None
    assert (study.history.numbers == np.arange(study.history.index_count)).all()
    changed = bpe.Study.of(change(study, Corpus.from_texts(["abc cab bca"] * 20)))
    changed.save(tmp_path / "new.tokenizer.json")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "new.tokenizer.json"))
    text = "abc cab bca zz [PAD]"
    assert library.encode(text).ids == changed.encode(text)


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet"])
def test_a_wordpiece_table_keeps_the_ids_of_its_file_in_a_table_of_this_program(
    ending: str, wordpiece_in_order: NumberedTable, tmp_path: Path
) -> None:
    study, library = wordpiece_in_order
    study.save(tmp_path / f"between.{ending}")
    bpe.open(tmp_path / f"between.{ending}").save(tmp_path / "again.tokenizer.json")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "again.tokenizer.json"))
    assert again.get_vocab() == library.get_vocab()


def test_ids_that_are_missing_from_the_opened_file_are_refused(hugging_face: NumberedTable) -> None:
    study = hugging_face.study
    for ask in (
        lambda: bpe.trim(study, [9_999]),
        lambda: study.inside.columns([9_999]),
        lambda: study.id_of("#9999"),
        lambda: study.decode([9_999]),
        lambda: QUESTION.token(study, token="#9999"),
    ):
        with pytest.raises(BpeError, match=re.compile("9,?999")):
            ask()
    assert study.inside.columns([None])["id"] == [None]


@pytest.fixture
def without_unknown(tmp_path: Path) -> bpe.Study:
    """Return the study of a Unigram file that has no unknown token."""
    pieces = [["a", -1.0], ["b", -2.0], ["ab", -1.5]]
    model = {"type": "Unigram", "unk_id": None, "vocab": pieces, "byte_fallback": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))
    return bpe.open(tmp_path / "tokenizer.json")


def test_encoding_text_that_would_need_a_token_without_an_id_is_refused(without_unknown: bpe.Study) -> None:
    """In an earlier version the id was -1, which would select the last row of an embedding matrix."""
    assert without_unknown.encode("abba") == [2, 1, 0]
    for ask in (lambda: without_unknown.encode("abx"), lambda: without_unknown.encode_batch(["ab", "abx"])):
        with pytest.raises(BpeError, match="no unknown token"):
            ask()


def test_tokens_without_an_id_are_shown_with_an_empty_id(without_unknown: bpe.Study) -> None:
    assert [span.id for span in without_unknown.spans("abx")] == [2, None]
    answer = QUESTION.look(without_unknown, text="abx")
    assert answer.columns["id"] == [2, None]
    assert answer.columns["odd"][-1] == "unknown"
    assert -1 not in QUESTION.audit(without_unknown).columns["id"]
