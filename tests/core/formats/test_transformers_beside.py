"""What transformers 4.57 and 5.24 do with a file by those beside it is told when it is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.formats import open_table
from bpe_core.formats.transformers_beside import class_of
from bpe_core.segmenting.tokenizer import Tokenizer
from tests.core.formats.samples import content, files, learned

SPECIALS = ("<|endoftext|>", "<mask>", "<s>")


MASK = {"300": {"content": "<mask>", "lstrip": True, "special": True}}


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    for name, data in files(learned("gpt2", special_tokens=SPECIALS), "merges.txt", "merges.txt").items():
        (tmp_path / name).write_bytes(data)
    return tmp_path / "merges.txt"


def notes(merges: Path, **config: object) -> str:
    merges.with_name("tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return "\n".join(open_table(merges).notes)


def test_tokens_that_transformers_looks_for_and_those_that_it_does_not(merges: Path) -> None:
    assert "transformers" not in "".join(open_table(merges).notes)
    adds = "1 tokens in tokenizer_config.json beside it are not"
    assert adds in notes(merges, pad_token="<pad>", bos_token={"content": "<mask>"}, eos_token=None, add_bos_token=True)
    assert adds in notes(merges, additional_special_tokens=["<mask>", "<new>", "<new>"], added_tokens_decoder=[])
    passes_over = "2 tokens that no merge makes are looked for in texts here, but not in transformers"
    assert passes_over in notes(merges, tokenizer_class="GPT2Tokenizer")
    assert passes_over not in notes(merges, tokenizer_class="Qwen2Tokenizer", pad_token="<s>")
    assert "add_prefix_space" in notes(merges, add_prefix_space=True)
    by_name = "in transformers 4 it does, in 5 it does not"
    assert by_name in notes(merges, tokenizer_class="RobertaTokenizer", mask_token="<mask>")
    assert by_name not in notes(merges, tokenizer_class="RobertaTokenizer", added_tokens_decoder=MASK)
    merges.with_name("tokenizer.json").write_text("{}", "utf-8")
    assert by_name not in notes(merges, tokenizer_class="RobertaTokenizer", mask_token="<mask>")
    assert "which transformers reads instead" in notes(merges)
    merges.with_name("tokenizer.json").unlink()
    named = dict.fromkeys(("pad_token", "bos_token", "mask_token"), SPECIALS[0]) | {"extra_special_tokens": SPECIALS}
    assert notes(merges, tokenizer_class="GPT2Tokenizer", add_prefix_space=True, **named) == ""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("GPT2", {"extra_special_tokens": SPECIALS}),
        ("GPT2", {"add_prefix_space": True, "extra_special_tokens": SPECIALS}),
        ("Roberta", {"added_tokens_decoder": MASK, "extra_special_tokens": SPECIALS[:1]}),
        ("Qwen2", {"extra_special_tokens": SPECIALS}),
    ],
)
def test_the_class_that_is_named_splits_merges_so(merges: Path, kind: str, said: dict[str, object]) -> None:
    transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
    notes(merges, tokenizer_class=f"{kind}Tokenizer", unk_token="<s>", **said)
    theirs = getattr(transformers, f"{kind}Tokenizer").from_pretrained(merges.parent)
    opened = open_table(merges)
    ours = Tokenizer(opened.history)
    for text in (
        "the lowest 12345 it's",
        " a <mask>\n b",
        "x<|endoftext|> y",
        "e\u0301 IT'S\r\n\t(x);",
        "",
        "a  <s>  b",
    ):
        ids = opened.numbers_of(ours.encode(text, allowed_special="all"))
        assert ids == theirs(text, add_special_tokens=False)["input_ids"], text


@pytest.mark.parametrize(
    ("beside", "data", "sentence"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer"}, "names XLMRobertaTokenizer, which gives"),
        ("tokenizer_config.json", {"tokenizer_class": "MarianTokenizer"}, "names MarianTokenizer, which gives"),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}, ""),
        ("tokenizer_config.json", {"tokenizer_class": "XLNetTokenizer"}, "names XLNetTokenizer, which itself changes"),
        ("tokenizer_config.json", {"tokenizer_class": "T5Tokenizer"}, "names T5Tokenizer, which adds tokens"),
        ("tokenizer_config.json", {"tokenizer_class": "T5Tokenizer", "extra_ids": 0}, ""),
        ("tokenizer_config.json", {"unk_token": "<unk>"}, "1 tokens in tokenizer_config.json beside it are not"),
        ("special_tokens_map.json", {"pad_token": "<new>"}, "1 tokens in special_tokens_map.json beside it are not"),
        ("vocab.json", {"▁": 70_000}, "vocab.json beside it gives pieces other numbers"),
        ("vocab.json", {"none of its pieces": 1}, ""),
        ("vocab.json", [], ""),
        ("tokenizer_config.json", [], "tokenizer_config.json beside it is damaged"),
    ],
)
def test_numbers_and_tokens_of_a_sentencepiece_model(tmp_path: Path, beside: str, data: object, sentence: str) -> None:
    model = tmp_path / "sentencepiece.bpe.model"
    model.write_bytes(content(learned("sentencepiece-like"), "sentencepiece"))
    before = open_table(model).notes
    (tmp_path / beside).write_text(json.dumps(data), "utf-8")
    told = [note for note in open_table(model).notes if note not in before]
    assert [sentence in note for note in told] == [True] * bool(sentence), told


@pytest.mark.parametrize(
    ("kind", "steps", "differs"),
    [
        ("GPT2Tokenizer", {}, False),
        ("GPT2TokenizerFast", {"normalizer": {"type": "Sequence", "normalizers": []}}, False),
        ("GPT2Tokenizer", {"normalizer": {"type": "NFC"}}, True),
        ("LlamaTokenizer", {}, True),
        ("Qwen2Tokenizer", {}, True),
        ("PreTrainedTokenizerFast", {"normalizer": {"type": "NFC"}}, False),
    ],
)
def test_a_class_with_steps_of_its_own(tmp_path: Path, kind: str, steps: dict[str, object], differs: bool) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(json.loads(content(learned("gpt2"), "tokenizer.json")) | steps), "utf-8")
    said = notes(file, tokenizer_class=kind)
    assert ("in transformers 5 changes and splits texts in a way of its own" in said) == differs


def test_tokens_that_only_the_configuration_names(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content(learned("gpt2", special_tokens=SPECIALS), "tokenizer.json"))
    (said,) = open_table(file).notes or ("",)
    assert notes(file, eos_token="<s>", mask_token={"content": "<mask>"}) == said
    assert "1 tokens that tokenizer_config.json" in notes(file, pad_token="<pad>", eos_token="<s>")


def test_a_class_is_known_by_either_of_its_names() -> None:
    assert {class_of({"tokenizer_class": f"Bart{ending}"}) for ending in ("Tokenizer", "TokenizerFast")} == {"Bart"}
    assert class_of({"tokenizer_class": 5}) == class_of({}) == ""
