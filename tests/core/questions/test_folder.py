"""Tests of the comparison of all tokenizer files in a model folder with the tokenizer that transformers loads."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, processors

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.delivery.kept_parts import ids_around
from tests.shared import SHARED

TEXT = "The keeper of the lighthouse wrote one more word into the log, and one more. " * 3
END = "<|endoftext|>"


@pytest.fixture(scope="module")
def equal_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder whose three tokenizer files agree."""
    folder = tmp_path_factory.mktemp("made") / "model"
    study = bpe.train(TEXT, "gpt2", vocab_size=300, special_tokens=(END,))
    bpe.deliver(study, folder, eos=END)
    study.save(folder / "merges.txt")
    study.save(folder / "ranks.tiktoken")
    return folder


@pytest.fixture
def model(equal_files: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(equal_files, tmp_path / "model"))


def test_the_folder_question_lists_which_library_loads_each_file_if_the_files_agree(model: Path) -> None:
    (model / "ranks.tiktoken").unlink()
    answer = bpe.folder(str(model))
    assert list(answer.table.columns["file"]) == ["tokenizer.json", "merges.txt"]
    assert list(answer.table.columns["loaded_by"]) == ["tokenizers", "tokenizers"]
    assert not answer.differs
    assert answer.facts["llama_cpp_pre_tokenizer"] == "gpt-2"


# The patterns of published tokenizers, and the names that the converter of llama.cpp writes for these tokenizers.
SHORT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LETTERS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
)
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
REST_WITH_SLASHES = REST.replace(r"[\r\n]*", r"[\r\n/]*")
PUBLISHED = {
    "llama-bpe": rf"{SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}",  # Llama 3
    "qwen2": rf"{SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}",  # Qwen 2
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
}
NEARLY = {  # llama.cpp's own pattern of this name does not treat accents as the published pattern does
    "tekken": rf"{'|'.join(LETTERS)}|\p{{N}}|{REST_WITH_SLASHES}",  # Mistral Nemo
}


@pytest.mark.parametrize("name", [*PUBLISHED, *NEARLY])
def test_the_folder_question_gives_a_published_pattern_the_same_name_as_the_llama_cpp_converter(
    name: str, tmp_path: Path
) -> None:
    pattern = {**PUBLISHED, **NEARLY}[name]
    study = bpe.train("low lower newest " * 5, "gpt2", merges=5, pattern="custom", custom_pattern=pattern)
    study.save(tmp_path / "tokenizer.json")
    answer = bpe.folder(str(tmp_path))
    assert answer.facts["llama_cpp_pre_tokenizer"] == (name if name in PUBLISHED else None)
    assert (name in answer.facts["llama_cpp_closest"]) == (name in NEARLY)
    assert ("The closest are " in answer.sentences[-1]) == (name in NEARLY)


@pytest.mark.skipif(not (SHARED / "data" / "gpt2").is_dir(), reason="needs the files of GPT-2")
def test_the_folder_question_names_the_llama_cpp_pre_tokenizer_of_a_published_tokenizer() -> None:
    answer = bpe.folder(str(SHARED / "data" / "gpt2"))
    assert answer.facts["llama_cpp_converter"] == "gpt-2"
    assert answer.facts["llama_cpp_pre_tokenizer"] == "gpt-2"


def test_the_folder_question_names_no_llama_cpp_converter_for_a_newly_trained_tokenizer(model: Path) -> None:
    answer = bpe.folder(str(model))
    assert answer.facts["llama_cpp_converter"] is None
    assert not any("converter" in sentence for sentence in answer.sentences)


PROCESSORS: list[Any] = [
    processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]),
    processors.TemplateProcessing(single="<s>:0 <s>:0 $A:0", special_tokens=[("<s>", 1)]),
    processors.BertProcessing(("</s>", 2), ("<s>", 1)),
    processors.RobertaProcessing(("</s>", 2), ("<s>", 1)),
    processors.Sequence(
        [processors.ByteLevel(), processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])]
    ),
]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_special_ids_around_a_text_are_the_same_as_in_the_tokenizers_library(
    processor: Any, tmp_path: Path
) -> None:
    library = Tokenizer(models.WordLevel({"x": 0, "<s>": 1, "</s>": 2}, unk_token="x"))
    library.post_processor = processor
    library.save(str(tmp_path / "tokenizer.json"))
    around = ids_around(tmp_path / "tokenizer.json")
    assert around is not None
    assert [*around[0], 0, *around[1]] == library.encode("x").ids


def test_the_folder_question_lists_all_names_that_llama_cpp_has_for_a_pattern(model: Path) -> None:
    answer = bpe.folder(str(model))
    assert {"phi-2", "mpt", "olmo"} <= {*answer.facts["llama_cpp_equal_names"]}
    assert answer.sentences[-1].endswith(f"{len(answer.facts['llama_cpp_equal_names'])} other names mean the same.")


def test_the_first_file_that_the_folder_question_lists_is_the_file_that_transformers_loads(model: Path) -> None:
    from transformers import AutoTokenizer  # takes seconds

    loaded = AutoTokenizer.from_pretrained(model)
    first = bpe.folder(str(model)).table.columns["file"][0]
    assert bpe.open(model / first).encode(TEXT) == loaded.encode(TEXT)


def test_the_folder_question_names_the_first_merge_that_a_smaller_file_lacks(model: Path) -> None:
    bpe.open(model / "tokenizer.json").at(20).save(model / "small.tiktoken")
    report = bpe.folder(str(model)).facts["files"]["small.tiktoken"]
    assert report["first_merge"] == 21
    assert {text["stage"] for text in report["texts"]} >= {"tokens"}
    assert report["tokens"][0].startswith("23 tokens are only in tokenizer.json")


def test_the_folder_question_reports_that_a_different_pattern_splits_words_differently(model: Path) -> None:
    whole = json.loads((model / "tokenizer.json").read_text())
    letters = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
    as_bytes = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    whole["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [letters, as_bytes]}
    (model / "tokenizer.json").write_text(json.dumps(whole))
    report = bpe.folder(str(model)).facts["files"]["ranks.tiktoken"]
    assert {text["stage"] for text in report["texts"]} == {"words", "special tokens"}
    assert not report["tokens"]


def test_the_folder_question_finds_that_a_normalizer_changes_the_text_before_splitting(model: Path) -> None:
    whole = json.loads((model / "tokenizer.json").read_text())
    whole["normalizer"] = {"type": "Lowercase"}
    (model / "tokenizer.json").write_text(json.dumps(whole))
    stages = {text["stage"] for text in bpe.folder(str(model)).facts["files"]["ranks.tiktoken"]["texts"]}
    assert "normalization" in stages
    assert "ids" not in stages


def test_the_folder_question_names_a_missing_special_token_with_its_id(model: Path) -> None:
    answer = bpe.folder(str(model))
    (special,) = answer.facts["files"]["ranks.tiktoken"]["specials"]
    assert special == f"the id of “{END}” is 299 in tokenizer.json, none in ranks.tiktoken"
    assert answer.differs


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tokenizer_config.json", {"eos_token": "<end>"}, "The eos token “<end>” of the configuration is not a token"),
        ("special_tokens_map.json", {"eos_token": "the"}, "special_tokens_map.json names “the”"),
        ("generation_config.json", {"eos_token_id": 5}, "generation_config.json gives the id 5 for the end of a text"),
        ("tokenizer_config.json", {"added_tokens_decoder": {"7": {"content": END}}}, "the id 7, but it has the id"),
    ],
)
def test_the_folder_question_reports_configuration_files_whose_tokens_do_not_match(
    model: Path, name: str, change: dict[str, object], message: str
) -> None:
    path = model / name
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | change))
    assert any(message in sentence for sentence in bpe.folder(str(model)).facts["configuration"])


def test_the_folder_command_ends_with_exit_code_3_if_files_differ(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["folder", str(model)]) == 3
    (model / "ranks.tiktoken").unlink()
    assert run(["folder", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1] or "{}") is not None


def test_the_caption_of_the_folder_question_lists_each_file_with_its_checksum(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["folder", str(model), "--markdown"])
    printed = capsys.readouterr().out
    for path in (model / "tokenizer.json", model / "ranks.tiktoken"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"File {path.name}, whose SHA-256 begins with {digest[:16]}" in printed


def test_the_folder_question_refuses_a_folder_without_a_tokenizer_with_an_error_message(tmp_path: Path) -> None:
    with pytest.raises(bpe.BpeError, match="is a folder without a tokenizer"):
        bpe.folder(str(tmp_path))
    with pytest.raises(bpe.BpeError, match="is not a folder"):
        bpe.folder(str(tmp_path / "nowhere" / "at all"))


def test_checking_the_pin_file_of_a_folder_finds_a_changed_file(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pins = model.parent / "model.pins.json"
    assert run(["pin", "--folder", str(model), "-o", str(pins)]) == 0
    assert run(["check", "--pins", str(pins)]) == 0
    bpe.open(model / "tokenizer.json").at(20).save(model / "ranks.tiktoken")
    capsys.readouterr()
    assert run(["check", "--pins", str(pins)]) == 3
    assert "by ranks.tiktoken: its ids" in capsys.readouterr().out
