"""Tests of the warnings on opening a file if other files in its folder change its ids in transformers 4.57 or 5.24."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import bpe_core as bpe
from bpe_core.formats import open_table
from bpe_core.formats.transformers_classes import class_of, decoder_of
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.preparation.pieces import AddedToken
from tests.conftest import EXPLORES
from tests.core.formats.hugging_face_tokenizers import KINDS, added_token, by_bytes
from tests.core.formats.samples import content, files, learn_preset
from tests.core.formats.test_kinds_of_tokenizer_json import lines

SPECIALS = ("<|endoftext|>", "<mask>", "<s>")


MASK = {"300": {"content": "<mask>", "lstrip": True, "special": True}}


@pytest.fixture
def merges(tmp_path: Path) -> Path:
    for name, data in files(learn_preset("gpt2", special_tokens=SPECIALS), "merges.txt", "merges.txt").items():
        (tmp_path / name).write_bytes(data)
    return tmp_path / "merges.txt"


def notes(merges: Path, **config: object) -> str:
    merges.with_name("tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return "\n".join(open_table(merges).notes)


def test_added_tokens_that_transformers_reads_differently_are_reported_on_opening(merges: Path) -> None:
    assert "transformers" not in "".join(open_table(merges).notes)
    adds = "1 token in tokenizer_config.json in its folder is matched"
    assert adds in notes(merges, pad_token="<pad>", bos_token={"content": "<mask>"}, eos_token=None, add_bos_token=True)
    assert adds in notes(merges, additional_special_tokens=["<mask>", "<new>", "<new>"], added_tokens_decoder=[])
    passes_over = "2 tokens of the vocabulary are made by no merge, so they are found in no text"
    assert passes_over in notes(merges, tokenizer_class="GPT2Tokenizer")
    assert passes_over not in notes(merges, tokenizer_class="Qwen2Tokenizer", pad_token="<s>")
    assert "add_prefix_space" in notes(merges, add_prefix_space=True)
    by_name = "in transformers 5 it does not"
    assert by_name in notes(merges, tokenizer_class="RobertaTokenizer", mask_token="<mask>")
    assert by_name not in notes(merges, tokenizer_class="RobertaTokenizer", added_tokens_decoder=MASK)
    merges.with_name("tokenizer.json").write_text("{}", "utf-8")
    assert by_name not in notes(merges, tokenizer_class="RobertaTokenizer", mask_token="<mask>")
    assert "and transformers reads that file instead" in notes(merges)
    merges.with_name("tokenizer.json").unlink()
    named = dict.fromkeys(("pad_token", "bos_token", "mask_token"), SPECIALS[0]) | {"extra_special_tokens": SPECIALS}
    shown_notes = notes(merges, tokenizer_class="GPT2Tokenizer", add_prefix_space=True, **named)
    assert [note[:22] for note in shown_notes.split("\n")] == ["The slow GPT2Tokenizer"]


def test_special_tokens_in_a_text_are_found_only_if_the_configuration_names_these_tokens(merges: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
    notes(merges, tokenizer_class="GPT2Tokenizer", unk_token="<|endoftext|>", pad_token="<new>")
    theirs = transformers.GPT2Tokenizer.from_pretrained(merges.parent)
    study = bpe.open(merges)
    for text in ("<s>", "a <mask> b", "x<|endoftext|> y", "x<new> y"):
        assert list(study.encode(text)) == theirs(text, add_special_tokens=False)["input_ids"], text


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("GPT2", {"extra_special_tokens": SPECIALS}),
        ("GPT2", {"add_prefix_space": True, "extra_special_tokens": SPECIALS}),
        ("Roberta", {"added_tokens_decoder": MASK, "extra_special_tokens": SPECIALS[:1]}),
        ("Qwen2", {"extra_special_tokens": SPECIALS}),
    ],
)
def test_a_merges_file_gives_the_same_ids_as_the_transformers_class_named_in_its_configuration(
    merges: Path, kind: str, settings: dict[str, object]
) -> None:
    transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
    notes(merges, tokenizer_class=f"{kind}Tokenizer", unk_token="<s>", **settings)
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
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}, "names LlamaTokenizer, which handles"),
        ("tokenizer_config.json", {"tokenizer_class": "XLNetTokenizer"}, "names XLNetTokenizer, which changes"),
        ("tokenizer_config.json", {"tokenizer_class": "T5Tokenizer"}, "names T5Tokenizer, which adds tokens"),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "T5Tokenizer", "extra_ids": 0},
            "names T5Tokenizer, which handles",
        ),
        ("config.json", {"model_type": "llama"}, "config.json in its folder names LlamaTokenizer, which handles"),
        ("tokenizer_config.json", {"unk_token": "<unk>"}, "1 token in tokenizer_config.json in its folder is matched"),
        (
            "special_tokens_map.json",
            {"pad_token": "<new>"},
            "1 token in special_tokens_map.json in its folder is matched",
        ),
        ("vocab.json", {"▁": 70_000}, "vocab.json in its folder gives pieces ids that differ"),
        ("vocab.json", {"none of its pieces": 1}, ""),
        ("vocab.json", [], ""),
        ("tokenizer_config.json", [], "tokenizer_config.json in its folder is damaged"),
    ],
)
def test_differences_between_a_sentencepiece_model_and_its_sidecar_files_are_reported(
    tmp_path: Path, beside: str, data: object, sentence: str
) -> None:
    model = tmp_path / "sentencepiece.bpe.model"
    model.write_bytes(content(learn_preset("sentencepiece-like"), "sentencepiece"))
    before = open_table(model).notes
    (tmp_path / beside).write_text(json.dumps(data), "utf-8")
    new_notes = [note for note in open_table(model).notes if note not in before]
    assert [sentence in note for note in new_notes] == [True] * bool(sentence), new_notes


@pytest.mark.parametrize(
    ("kind", "steps", "differs"),
    [
        ("GPT2Tokenizer", {}, False),
        ("GPT2TokenizerFast", {"normalizer": {"type": "Sequence", "normalizers": []}}, False),
        ("GPT2Tokenizer", {"normalizer": {"type": "NFC"}}, True),
        ("LlamaTokenizer", {}, True),
        ("Qwen2Tokenizer", {}, True),
        ("PreTrainedTokenizerFast", {"normalizer": {"type": "NFC"}}, False),
        ("GPT2Tokenizer", {"pre_tokenizer": by_bytes(blank=True, cuts=True)}, True),
        ("RoFormerTokenizer", {}, True),
        ("SomebodysTokenizer", {}, True),
    ],
)
def test_a_tokenizer_class_with_its_own_normalizer_or_splitting_is_reported(
    tmp_path: Path, kind: str, steps: dict[str, object], differs: bool
) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(json.loads(content(learn_preset("gpt2"), "tokenizer.json")) | steps), "utf-8")
    shown_notes = notes(file, tokenizer_class=kind)
    assert ("in transformers 5 normalizes, splits and decodes texts differently" in shown_notes) == differs


def test_tokens_named_only_in_tokenizer_config_json_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content(learn_preset("gpt2", special_tokens=SPECIALS), "tokenizer.json"))
    (unnamed_note,) = open_table(file).notes or ("",)
    assert notes(file, eos_token="<s>", mask_token={"content": "<mask>"}) == unnamed_note
    assert "1 token of tokenizer_config.json" in notes(file, pad_token="<pad>", eos_token="<s>")


CLASSES: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
    # Kinds of files, a configuration with which the first class agrees with the file, and tokenizer classes.
    "qwen": ({}, ("Qwen2", "GPT2", "PreTrained", "")),
    "gpt neox": ({}, ("GPTNeoX", "PreTrained", "GPT2")),
    "roberta": ({"add_prefix_space": True}, ("Roberta", "Bart", "Longformer", "Deberta", "PreTrained")),
    "bert": ({}, ("Bert", "Electra", "DistilBert", "MPNet", "Funnel", "PreTrained")),
    "bert cased": ({"do_lower_case": False}, ("Bert", "Electra", "PreTrained")),
    "xlm roberta": ({}, ("XLMRoberta", "MBart", "PreTrained")),
    "t5": ({"extra_ids": 10}, ("T5", "PreTrained", "Pegasus")),
    "llama of transformers 5": ({}, ("Llama", "PreTrained", "Gemma")),
}
CHOICES = ("add_prefix_space", "do_lower_case", "tokenize_chinese_chars", "split_special_tokens", "strip_accents")


@pytest.mark.parametrize("kind", CLASSES)
def test_a_folder_without_reported_differences_gives_the_same_ids_and_texts_as_transformers(
    kind: str, tmp_path: Path
) -> None:
    """The files beside the tokenizer are chosen at random."""
    transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
    chance, equal, (usual, classes) = Random(kind), 0, CLASSES[kind]
    for number in range(80 if EXPLORES else 8):
        folder = tmp_path / str(number)
        folder.mkdir()
        whole = KINDS[kind]()
        if isinstance(vocabulary := whole["model"]["vocab"], list):  # transformers 5 reads longer numbers otherwise
            vocabulary[:] = [[text, round(score, 6)] for text, score in vocabulary]
        listed = whole["added_tokens"]
        whole["decoder"] = decoder_of(classes[0], usual) if chance.random() < 0.9 or not number else None
        config: dict[str, object] = {"tokenizer_class": f"{classes[0]}Tokenizer", **usual}
        if number:  # the first has nothing odd
            config = {"tokenizer_class": f"{chance.choice(classes)}Tokenizer"}
            config |= {key: chance.random() < 0.5 for key in CHOICES if chance.random() < 0.15}
            numbered = {
                str(token["id"]): {**token, "lstrip": token["lstrip"] ^ (chance.random() < 0.02)} for token in listed
            }
            config |= {"added_tokens_decoder": numbered} if chance.random() < 0.4 else {}
            config |= {"unk_token": listed[0]["content"]} if chance.random() < 0.5 else {}
            others = {"added_tokens.json": {"<new>": 90_000}, "special_tokens_map.json": {"pad_token": "<other>"}}
            for name, data in others.items():
                if chance.random() < 0.2:
                    (folder / name).write_text(json.dumps(data), "utf-8")
        if config["tokenizer_class"] == "PreTrainedTokenizer":
            config["tokenizer_class"] = "PreTrainedTokenizerFast"
        (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
        (folder / "tokenizer.json").write_text(json.dumps(whole), "utf-8")
        opened = open_table(folder / "tokenizer.json")
        if any("transformers" in note for note in opened.notes):
            continue
        equal += 1
        theirs, ours = transformers.AutoTokenizer.from_pretrained(folder), Tokenizer(opened.history)
        for text in (*lines()[::9], " <mask> [MASK]x<|endoftext|> <new>", "<extra_id_0> a<unk> [UNK]", " İ Ünder 中文"):
            ids = opened.numbers_of(ours.encode(text, allowed_special="all"))
            assert ids == theirs(text, add_special_tokens=False)["input_ids"], (config, text)
            own = opened.history.indices_of(ids)
            for skip in (False, True):
                decoded = theirs.decode(ids, skip_special_tokens=skip)
                assert ours.decode(own, way="library", skip_special=skip) == decoded, (config, text)
    assert equal


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, ""),
        ({"split_special_tokens": True}, "says split_special_tokens: transformers matches no special token"),
        ({"clean_up_tokenization_spaces": True}, "says clean_up_tokenization_spaces: when transformers decodes"),
        ({"added_tokens_decoder": {"7": {"content": "<s>", "lstrip": True}}}, "1 token is matched differently"),
        ({"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {}}, "3 tokens of the file are not matched"),
        ({"tokenizer_class": "CodeGenTokenizer"}, ""),
        ({"tokenizer_class": "CodeGenTokenizer", "mask_token": "<plain>"}, "1 token is special in transformers"),
        ({"tokenizer_class": "GPTNeoXTokenizer"}, "1 token is matched by GPTNeoXTokenizer of transformers"),
    ],
)
def test_opening_a_file_reports_settings_of_tokenizer_config_json_that_override_tokenizer_json(
    tmp_path: Path, config: dict[str, object], sentence: str
) -> None:
    file = tmp_path / "tokenizer.json"
    whole = json.loads(content(learn_preset("gpt2", special_tokens=SPECIALS), "tokenizer.json"))
    whole["added_tokens"].append(added_token(90_000, "<plain>", special=False))
    file.write_text(json.dumps(whole), "utf-8")
    before = open_table(file).notes
    notes(file, **config)
    new_notes = [note for note in open_table(file).notes if note not in before]
    assert bool(new_notes) == bool(sentence), new_notes
    assert sentence in "\n".join(new_notes)


@pytest.mark.parametrize("wanted", [None, False, True])
@pytest.mark.parametrize("is_put", [False, True])
def test_opening_a_file_reports_that_version_4_of_transformers_changes_the_space_before_a_text(
    tmp_path: Path, is_put: bool, wanted: bool | None
) -> None:
    file = tmp_path / "tokenizer.json"
    whole = json.loads(content(learn_preset("gpt2"), "tokenizer.json"))
    file.write_text(json.dumps(whole | {"pre_tokenizer": by_bytes(blank=is_put, cuts=True)}), "utf-8")
    assert "transformers 4" not in "".join(open_table(file).notes)
    shown_notes = notes(file, **({} if wanted is None else {"add_prefix_space": wanted}))
    assert ("4 puts a space before a text if add_prefix_space" in shown_notes) == (is_put != bool(wanted))


@pytest.mark.parametrize(
    ("kind", "config", "sentence"),
    [
        ("t5", {"tokenizer_class": "T5Tokenizer"}, "T5Tokenizer of transformers 5 reads the last digits of scores"),
        ("t5", {"tokenizer_class": "PreTrainedTokenizerFast"}, ""),
        (
            "t5",
            {"tokenizer_class": "T5Tokenizer", "add_prefix_space": True},
            "transformers 4 builds a new T5Tokenizer",
        ),
        ("llama of transformers 5", {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": None}, ""),
        (
            "llama of transformers 5",
            {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": True},
            "a new LlamaTokenizer",
        ),
    ],
)
def test_classes_of_the_transformers_library_that_build_a_new_tokenizer_are_reported(
    tmp_path: Path, kind: str, config: dict[str, object], sentence: str
) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(KINDS[kind]()), "utf-8")
    shown_notes = notes(file, extra_ids=10, **config)
    assert ("builds a new" in shown_notes or "last digits" in shown_notes) == bool(sentence)
    assert sentence in shown_notes


def test_matching_rules_in_added_tokens_decoder_override_all_other_rules_of_a_special_token(
    merges: Path,
) -> None:
    takes_spaces = {"content": "<s>", "lstrip": True}
    assert "take the spaces" not in notes(merges, bos_token="<s>", added_tokens_decoder={"300": takes_spaces})
    twice = "1 token is listed twice, with different rules for matching"
    assert twice in notes(merges, bos_token="<s>", cls_token=takes_spaces)
    encoded = []
    for numbered in ({}, {"added_tokens_decoder": {"300": {"content": "<s>"}}}):
        notes(merges, bos_token=takes_spaces, **numbered)
        opened = open_table(merges)
        encoded.append(opened.numbers_of(Tokenizer(opened.history).encode("a <s> b", allowed_special="all")))
    assert len(encoded[1]) == len(encoded[0]) + 1  # the space before the special token is a token


def test_the_slow_and_the_fast_name_of_a_tokenizer_class_mean_the_same_class() -> None:
    assert {class_of({"tokenizer_class": f"Bart{ending}"}) for ending in ("Tokenizer", "TokenizerFast")} == {"Bart"}
    assert class_of({"tokenizer_class": 5}) == class_of({}) == ""


BERT = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n<s>\n<pad>\n</s>\n<mask>\na\nb\n'\nn\nt\n##b\n##t\n"


@pytest.mark.parametrize(
    ("config", "slow", "cleans"),
    [
        ({}, "", False),
        ({"model_max_length": 512}, ". This program", True),
        ({"tokenizer_class": "BertTokenizer"}, ". This program", True),
        (
            {"tokenizer_class": "ElectraTokenizer", "do_lower_case": False},
            ", and a letter and its accent become one",
            True,
        ),
        (
            {"tokenizer_class": "BertTokenizer", "strip_accents": False},
            ", and a letter and its accent become one",
            True,
        ),
        ({"tokenizer_class": "BertTokenizer", "tokenize_chinese_chars": False}, ". This program", True),
        ({"tokenizer_class": "MPNetTokenizer"}, ", and special tokens are also matched in capital letters", True),
        ({"tokenizer_class": "SplinterTokenizer"}, ". This program", False),
        ({"tokenizer_class": "LayoutLMv2Tokenizer"}, ". This program", False),
        ({"tokenizer_class": "BertTokenizer", "clean_up_tokenization_spaces": False}, ". This program", False),
    ],
)
def test_differences_between_bert_tokenizers_in_transformers_4_and_5_are_reported(
    tmp_path: Path, config: dict[str, object], slow: str, cleans: bool
) -> None:
    """Slow classes of version 4 use Python's character tables. Most classes of version 4 remove spaces in decoding."""
    file = tmp_path / "vocab.txt"
    file.write_text(BERT, "utf-8")
    shown_notes = notes(file, **config) if config else "\n".join(open_table(file).notes)
    assert (f"can be punctuation or accents{slow}" in shown_notes) == bool(slow), shown_notes
    assert ("turns “do not” into “don't”" in shown_notes) == cleans


def test_special_tokens_of_vocab_txt_depend_on_the_named_tokenizer_class(tmp_path: Path) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text(BERT + "<unk>\n<sep>\n<cls>\n", "utf-8")
    for kind, specials, unknown in (
        ("Bert", ("[PAD]", "[CLS]", "[SEP]", "[MASK]"), "[UNK]"),
        ("MPNet", ("<s>", "<pad>", "</s>", "<mask>"), "[UNK]"),
        ("Funnel", ("<s>", "<pad>", "</s>", "<mask>", "<sep>", "<cls>"), "<unk>"),
    ):
        notes(file, tokenizer_class=f"{kind}Tokenizer")
        recipe = open_table(file).history.recipe
        assert {*recipe.special_tokens} == {*specials}, kind
        assert (recipe.unknown_text, recipe.lowercase) == (unknown, True)
    notes(file, tokenizer_class="BertTokenizer", added_tokens_decoder={"5": {"content": "<s>", "special": False}})
    assert AddedToken("<s>", special=False) in open_table(file).history.recipe.preparation


def test_an_added_token_that_is_not_special_is_kept_when_decoding_skips_special_tokens(merges: Path) -> None:
    numbered = {"258": {"content": "<s>", "special": False}, "257": {"content": "<mask>", "special": True}}
    notes(merges, tokenizer_class="GPT2Tokenizer", added_tokens_decoder=numbered)
    opened = open_table(merges)
    ours = Tokenizer(opened.history)
    ids = ours.encode("a<s>b<mask>", allowed_special="all")
    assert ours.decode(ids, way="library", skip_special=True) == "a<s>b"


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"tokenizer_class": "GPT2Tokenizer"}, "The slow GPT2Tokenizer of transformers 4 uses letters"),
        (
            {"tokenizer_class": "Qwen2Tokenizer"},
            "The slow Qwen2Tokenizer of transformers 4 uses letters, digits and marks",
        ),
        ({"tokenizer_class": "GPTNeoXTokenizer"}, ""),
        (
            {"tokenizer_class": "LukeTokenizer"},
            "matched by LukeTokenizer of transformers, but not by this program: “</s>”",
        ),
        ({"tokenizer_class": "CLIPTokenizer"}, "if this package is not installed, as BERT's tokenizer does"),
        ({"tokenizer_class": "BlenderbotTokenizer"}, "puts a space before a text, but that of transformers 4 does not"),
        (
            {"tokenizer_class": "BlenderbotTokenizer", "mask_token": "<mask>"},
            "in transformers 5 it does, too",
        ),
        ({"tokenizer_class": "BlenderbotTokenizer", "add_prefix_space": True, "added_tokens_decoder": MASK}, ""),
        (
            {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": MASK},
            "1 token is kept, and may get spaces around it",
        ),
        ({"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": MASK, "mask_token": "<mask>"}, ""),
        (
            {"tokenizer_class": "Qwen2Tokenizer", "unk_token": MASK["300"]},
            "5 without its rules for spaces and whole words",
        ),
        ({"tokenizer_class": "GPT2Tokenizer", "unk_token": MASK["300"]}, ""),
    ],
)
def test_opening_a_file_reports_differences_between_versions_of_the_transformers_library(
    merges: Path, config: dict[str, object], sentence: str
) -> None:
    others = (
        "uses letters",
        "as BERT's",
        "that of transformers 4",
        "5 it does, too",
        "may get spaces",
        "without its rules",
    )
    shown_notes = notes(merges, **config)
    if sentence:
        assert sentence in shown_notes
    else:
        assert not any(other in shown_notes for other in others[1:])
        assert ("uses letters" in shown_notes) == ("GPTNeoX" not in str(config))


def test_a_difference_for_newer_unicode_letters_is_reported_only_if_merges_join_parts_of_characters(
    tmp_path: Path,
) -> None:
    for made, differs in (("Ġ â\nâ Ģ\n", False), ("Ġâ Ģ\na b\n", False), ("a â\n", True), ("Ģ a\n", True)):
        (tmp_path / "merges.txt").write_text(f"#version: 0.2\nĠ â\n{made}", "utf-8")
        assert ("uses letters" in notes(tmp_path / "merges.txt", tokenizer_class="GPT2Tokenizer")) == differs, made


@pytest.mark.parametrize(
    ("kind", "decoder", "differs"),
    [
        ("GPT2", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, False),
        ("GPT2", None, True),
        ("GPT2", {"type": "Fuse"}, True),
        ("PreTrained", None, False),
    ],
)
def test_a_tokenizer_class_with_its_own_decoder_is_reported(
    tmp_path: Path, kind: str, decoder: object, differs: bool
) -> None:
    file = tmp_path / "tokenizer.json"
    whole = json.loads(content(learn_preset("gpt2"), "tokenizer.json")) | {"decoder": decoder}
    file.write_text(json.dumps(whole), "utf-8")
    assert ("decodes differently" in notes(file, tokenizer_class=f"{kind}Tokenizer")) == differs


def test_whisper_timestamps_and_tokens_that_absorb_spaces_are_reported_on_opening(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    whole = json.loads(content(learn_preset("gpt2"), "tokenizer.json"))
    whole["added_tokens"] += [added_token(90_000, "<|0.02|>", special=False), added_token(90_001, "  ", rstrip=True)]
    file.write_text(json.dumps(whole), "utf-8")
    assert "1 token for times is left out when WhisperTokenizer" in notes(file, tokenizer_class="WhisperTokenizer")
    plainly = "1 token is matched by Qwen2Tokenizer of transformers 5 without its rules"
    assert plainly in notes(file, tokenizer_class="Qwen2Tokenizer", unk_token="  ")
    for config in ({"tokenizer_class": "GPT2Tokenizer", "unk_token": "  "}, {"tokenizer_class": "Qwen2Tokenizer"}):
        shown_notes = notes(file, **config)
        assert "without its rules" not in shown_notes
        assert "times are" not in shown_notes
