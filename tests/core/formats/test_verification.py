"""Tests of the verification of an export.

The verification finds wrong ids and counts before the old file is replaced.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, OutputError
from bpe_core.formats import FORMATS, Format, format_for, open_table, peer_process
from bpe_core.formats.bert_vocabulary import BertVocabulary
from bpe_core.formats.json_unigram import JsonUnigram
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from bpe_core.verification import sampling
from bpe_core.verification.checking import prepare_export, verify
from bpe_core.verification.import_check import check_import
from tests.core.formats.samples import content, history_for
from tests.core.learning import train

TEXT = "the lowest price is lower than the last one, naïve 日本 the lower the better, isn't it? 12 123\n" * 4
RECIPE = Recipe.preset("gpt2", merges=30, special_tokens=("<|end|>",))
HISTORY = train(Corpus.from_texts([TEXT]), RECIPE)


@pytest.mark.parametrize("format", FORMATS.written.values(), ids=FORMATS.written)
def test_the_verification_of_an_exported_file_finds_agreement_in_each_format(format: Format) -> None:
    history = history_for(format, TEXT, merges=30)
    prepared = prepare_export(history, f"merges{FORMATS.extension(format.name)}", format=format, text="my own words")
    verification = prepared.verification
    assert verification.agrees, verification.differences
    if format.differences(content(history, format.name), history) is not None:
        assert verification.sentence == f"verified: {len(history)} rows agree"
    else:
        assert verification.words >= sampling.WANTED_WORDS >= 1_000
        agreement = (
            "are split the same way"
            if any("other ids" in sentence for sentence in verification.cannot_hold)
            else "agree"
        )
        assert verification.sentence.startswith(f"verified: {verification.words:,} words {agreement}")
        assert ("the file and the table have different ids" in verification.sentence) == (agreement != "agree")


def swap_two_merges(history: History) -> History:
    """Return a table in which two merges of the history have changed places."""
    pairs = list(zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True))
    base = len(history.alphabet)
    first = next(i for i in range(len(pairs) - 1) if base + i not in pairs[i + 1])
    pairs[first : first + 2] = pairs[first + 1], pairs[first]
    new = {base + first: base + first + 1, base + first + 1: base + first}
    return History.from_pairs(history.recipe, history.alphabet, [(new.get(a, a), new.get(b, b)) for a, b in pairs])


@pytest.mark.parametrize("name", ["tokenizer.json", "tiktoken", "minbpe", "csv"])
def test_an_exported_file_with_swapped_ids_is_not_verified(name: str) -> None:
    verification = verify(content(swap_two_merges(HISTORY), name), FORMATS[name], HISTORY)
    assert not verification.agrees
    assert verification.differences
    assert verification.sentence.startswith("not verified: ")


def test_a_verification_that_compared_no_text_does_not_claim_agreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content(HISTORY, path.name))
    monkeypatch.setattr(sampling.CheckedTokenizer, "samples", lambda *_: iter(()))
    verification = verify(path.read_bytes(), FORMATS[path.name], HISTORY)
    assert not verification.agrees
    assert verification.sentence == "not verified: there were no words to compare"
    agreement = check_import(path, open_table(path))
    assert agreement is not None
    assert "agrees" not in agreement.sentence
    assert "compared" in agreement.sentence


def test_an_exported_file_that_cannot_be_read_back_fails_verification() -> None:
    verification = verify(content(HISTORY, "minbpe")[:-4], FORMATS["minbpe"], HISTORY)
    assert not verification.agrees
    broken = verify(b"minbpe v1\n", FORMATS["minbpe"], HISTORY)
    assert "cannot be read back" in broken.differences[0]


def test_verification_of_a_json_table_finds_changed_counts() -> None:
    other = train(Corpus.from_texts([TEXT + TEXT]), RECIPE)
    verification = verify(content(other, "json"), FORMATS["json"], HISTORY)
    assert any("The column count is read back differently" in sentence for sentence in verification.differences)


def test_the_report_of_an_export_lists_what_the_format_cannot_hold() -> None:
    recipe = Recipe.preset("gpt2", merges=20, special_tokens=("<|end|>",), lowercase=True, unit="line")
    history = train(Corpus.from_texts([TEXT]), recipe)
    losses = " ".join(FORMATS["tiktoken"].can_hold(history))
    for word in ("pattern gpt2", "each line", "lower case", "'<|end|>'"):
        assert word in losses, word


def test_merges_that_make_equal_texts_are_reported_before_the_export_is_written(tmp_path: Path) -> None:
    """Formats that name tokens by their text have one id for both merges."""
    recipe = Recipe.preset("gpt2", pattern="none", merges=4)
    plain = [(97, 98), (98, 99), (256, 99), (97, 257)]  # ab, bc, ab+c, a+bc
    history = History.from_pairs(recipe, HISTORY.alphabet, plain)
    path = tmp_path / "ours.tiktoken"
    path.write_bytes(b"the old file")
    assert any("same text" in sentence for sentence in FORMATS["tiktoken"].can_hold(history))
    verification = prepare_export(history, path).verification
    assert verification.agrees or verification.sentence.startswith("not verified")
    assert path.read_bytes() == b"the old file"


def test_a_prepared_export_leaves_the_old_file_until_the_export_is_put_in_place(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_text("old")
    prepared = prepare_export(HISTORY, path)
    assert path.read_text() == "old"
    assert prepared.replaces == [path]
    assert sorted(file.name for file in prepared.files) == ["merges.txt", "vocab.json"]
    prepared.put_in_place()
    assert path.read_text().startswith("#version: 0.2\n")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize(("old", "folder"), [("merges.txt", "vocab.json"), ("vocab.json", "merges.txt")])
def test_an_export_of_two_files_writes_both_files_or_neither(tmp_path: Path, old: str, folder: str) -> None:
    (tmp_path / old).write_text("old")
    (tmp_path / folder).mkdir()
    with pytest.raises(OutputError, match=rf"{folder}: it is a folder"):
        prepare_export(HISTORY, tmp_path / "merges.txt").put_in_place()
    assert (tmp_path / old).read_text() == "old"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_cancelled_export_leaves_no_files(tmp_path: Path) -> None:
    stages: list[str] = []

    def note(progress: Progress) -> None:
        stages.append(progress.stage)

    with pytest.raises(Cancelled):
        prepare_export(HISTORY, tmp_path / "tokenizer.json", work=Work(note, lambda: "verifying" in stages))
    assert "verifying" in stages
    assert list(tmp_path.iterdir()) == []


def test_an_export_at_a_step_writes_only_the_merges_up_to_that_step(tmp_path: Path) -> None:
    prepared = prepare_export(HISTORY, tmp_path / "ours.tiktoken", merges=5)
    assert (prepared.merges, prepared.verification.agrees) == (5, True)
    assert prepared.files[tmp_path / "ours.tiktoken"].count(b"\n") == 256 + 5


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("tokenizer.json", "tokenizer.json"), ("my-tokenizer.json", "tokenizer.json"), ("table.json", "json"),
        ("small-merges.txt", "merges.txt"), ("x.minbpe.model", "minbpe"), ("x.spm.model", "sentencepiece"),
        ("x.MD", "markdown"),
    ],
)  # fmt: skip
def test_the_ending_of_the_exported_file_name_chooses_the_format(name: str, format: str) -> None:
    assert format_for(name).name == format


@pytest.mark.parametrize("name", ["csv", "json", "parquet"])
def test_a_table_counted_on_a_different_text_is_exported_and_read_back_unchanged(name: str) -> None:
    """On another text, a merge may have a lower count than its runner-up, or a count of zero."""
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="the package pyarrow is not installed")
    uncounted = FORMATS["minbpe"].open(content(HISTORY, "minbpe"), "ours").history
    words = WordTable.from_counts({"other": 3, " words": 5, " the": 1, " lower": 2})
    counted = Trainer(words, uncounted.recipe, history=uncounted).history
    columns = counted.columns
    assert counted.has_counts
    assert (columns.runner_up_count > columns.count).any()
    back = FORMATS[name].open(content(counted, name), "table").history
    assert list(back) == list(counted)


def test_verification_runs_the_tokenizers_library_in_a_separate_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    monkeypatch.setattr(peer_process, "LARGE", 0)
    data, format = content(HISTORY, "tokenizer.json"), FORMATS["tokenizer.json"]
    verification = verify(data, format, HISTORY, apart=True)
    assert (verification.agrees, verification.asked) == (True, "tokenizers")
    refused = verify(data.replace(b'"padding"', b'"padding": 7, "more"'), format, HISTORY, apart=True)
    assert any("tokenizers does not load the file" in sentence for sentence in refused.differences)


@pytest.mark.parametrize("name", ["tiktoken", "merges.txt"])
def test_verification_of_a_table_with_superwords_compares_texts_of_several_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "WANTED_WORDS", 100)
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("superbpe", merges=40))
    verification = prepare_export(history, f"a{FORMATS.extension(name)}", format=FORMATS[name]).verification
    assert verification.agrees, verification.differences
    assert verification.words >= 100


@pytest.mark.parametrize(
    ("preset", "changes", "format", "loss", "beyond"),
    [
        (
            "unigram",
            {"lowercase": True, "special_tokens": ("<s>",)},
            "tokenizer.json",
            "<s> becomes the special token if it occurs in a text",
            "a <S>",
        ),
        (
            "bert",
            {"pattern": "whitespace", "special_tokens": ("<s>",)},
            "tokenizer.json",
            "<s> becomes the special token if it occurs in a text",
            "<S>",
        ),
        ("bert", {"special_tokens": ("end",), "merges": 0}, "vocab.txt", "The word end becomes the special token", ""),
        ("sentencepiece-like", {"merges": 9}, "merges.txt", "In this format ▁ inside a word becomes the marker", ""),
        ("gpt2", {"merges": 9, "special_tokens": ("é",)}, "tokenizer.json", "the same text as another token", ""),
    ],
)
def test_texts_that_a_format_would_mistake_for_tokens_are_reported_and_left_out_of_verification(
    preset: str, changes: Any, format: str, loss: str, beyond: str
) -> None:
    words = count_words(Corpus.from_texts([TEXT]), recipe := Recipe.preset(preset, **{"merges": 20, **changes}))
    history, written = learn(words, recipe), FORMATS[format]
    assert any(loss in sentence for sentence in written.can_hold(history))
    assert written.is_beyond(history, beyond) == bool(beyond)
    assert not written.is_beyond(history, "a <s> the lowest")


def test_verification_uses_no_sample_word_that_begins_or_ends_inside_a_character() -> None:
    steps = [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}, {"type": "FixedLength", "length": 1}]
    recipe = Recipe.preset("gpt2", merges=5, pattern="none", preparation=steps)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), [])
    samples = list(sampling.CheckedTokenizer(history, FORMATS["tiktoken"]).samples("é"))
    assert samples
    assert all(sample.isascii() for sample in samples)


@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.txt"])
def test_exporting_computes_the_limits_of_a_format_once_for_all_samples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computing the limits for each of ten thousand samples took a minute for a list of 25,000 tokens."""
    preset = {"tokenizer.json": "unigram", "vocab.txt": "wordpiece"}[name]
    history = train(
        Corpus.from_texts([TEXT]),
        Recipe.preset(preset, vocab_size={"unigram": 38}.get(preset, 50), unicode_form="NFKC"),
    )
    kind: Any = {"tokenizer.json": JsonUnigram, "vocab.txt": BertVocabulary}[name]
    asked, usual = list[int](), kind.spelled

    def counted(self: Any, history: History) -> Any:
        asked.append(1)
        return usual(self, history)

    monkeypatch.setattr(kind, "spelled", counted)
    prepare_export(history, tmp_path / name)
    assert 0 < len(asked) < 20


def test_a_failed_verification_names_the_character_that_all_differences_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier version reported only the number of differences."""
    format = FORMATS["tokenizer.json"]
    history = history_for(format, TEXT, merges=30)
    usual = sampling.CheckedTokenizer.difference
    often = Counter(sign for sample in sampling.CheckedTokenizer(history, format).samples() for sign in set(sample))
    rare = min((sign for sign, times in often.items() if times > 1), key=lambda sign: (often[sign], sign))

    def differing(self: Any, sample: str, expected: list[int], other: object, whose: str) -> str:
        return f"{sample!r} differs" if rare in sample else usual(self, sample, expected, other, whose)

    monkeypatch.setattr(sampling.CheckedTokenizer, "difference", differing)
    verification = prepare_export(history, "tokenizer.json", format=format).verification
    assert verification.differing > 1
    assert verification.sentence.endswith(" in them")
    assert "all with “" in verification.sentence
