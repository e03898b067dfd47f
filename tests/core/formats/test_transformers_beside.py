"""What transformers 4.57 and 5.24 do with a file by those beside it is told when it is opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.formats import open_table
from bpe_core.formats.transformers_beside import class_of
from tests.core.formats.samples import content, files, learned


def test_spaces_that_tokens_take_and_tokens_that_are_added(tmp_path: Path) -> None:
    merges = tmp_path / "merges.txt"
    for name, data in files(learned("gpt2", special_tokens=("<mask>",)), "merges.txt", "merges.txt").items():
        (tmp_path / name).write_bytes(data)
    assert not any("transformers" in note for note in open_table(merges).notes)

    def notes(**config: object) -> str:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
        return "\n".join(open_table(merges).notes)

    takes_spaces, adds = "1 tokens take the spaces beside them", "1 tokens in tokenizer_config.json beside it are not"
    assert takes_spaces in notes(tokenizer_class="RobertaTokenizerFast", mask_token="<mask>")
    assert takes_spaces in notes(added_tokens_decoder={"9": {"content": "<mask>", "lstrip": True}})
    assert takes_spaces not in notes(tokenizer_class="GPT2Tokenizer", mask_token="<mask>")
    assert takes_spaces not in notes(tokenizer_class="RobertaTokenizer", mask_token={"content": "<mask>"})
    assert adds in notes(pad_token="<pad>", bos_token={"content": "<mask>"}, eos_token=None, add_bos_token=True)
    assert adds in notes(additional_special_tokens=["<mask>", "<new>", "<new>"], added_tokens_decoder=[])
    assert "add_prefix_space" in notes(add_prefix_space=True)
    assert "beside it" not in notes(add_prefix_space=False, tokenizer_class="GPT2Tokenizer")


@pytest.mark.parametrize(
    ("beside", "data", "sentence"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer"}, "names XLMRobertaTokenizer, which gives"),
        ("tokenizer_config.json", {"tokenizer_class": "MarianTokenizer"}, "names MarianTokenizer, which gives"),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}, ""),
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


def test_a_class_is_known_by_either_of_its_names() -> None:
    assert {class_of({"tokenizer_class": f"Bart{ending}"}) for ending in ("Tokenizer", "TokenizerFast")} == {"Bart"}
    assert class_of({"tokenizer_class": 5}) == class_of({}) == ""
