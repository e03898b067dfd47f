"""Tests that a tokenizer folder keeps its special token roles, templates and sidecar files when its table
is changed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

import bpe_core as bpe
from bpe_core.command_line.main import run
from tests.shared import ROOT

TEXTS = ROOT / "tests" / "texts"
SPECIALS = ("<|begin|>", "<|end|>", "<|pad|>", "<|spare|>")
CHAT = "{% for message in messages %}<|spare|>{{ message.content }}<|end|>{% endfor %}"
CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<|begin|>",
    "eos_token": {"__type": "AddedToken", "content": "<|end|>", "lstrip": False, "normalized": False, "special": True},
    "pad_token": "<|pad|>",
    "additional_special_tokens": ["<|spare|>"],
    "padding_side": "left",
    "model_max_length": 512,
}
GENERATION = {"bos_token_id": 0, "eos_token_id": [1, 3], "pad_token_id": 2, "suppress_tokens": [-1, 300]}
SAMPLES = ("the lowest price<|end|> né", "<|begin|>def low(): return 1", "")


@pytest.fixture(scope="module")
def trained_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a Hugging Face folder. Its special tokens have the first ids, and one of them is put before each text."""
    folder = tmp_path_factory.mktemp("trained")
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, special_tokens=[*SPECIALS], show_progress=False, initial_alphabet=alphabet
    )
    made.train([str(TEXTS / "prose.txt")], trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<|begin|> $A",
        pair="<|begin|> $A <|end|> $B",
        special_tokens=[("<|begin|>", 0), ("<|end|>", 1)],
    )
    made.enable_padding(pad_id=2, pad_token="<|pad|>", direction="left")
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    (folder / "generation_config.json").write_text(json.dumps(GENERATION))
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 340, "eos_token_id": 1}))
    (folder / "chat_template.jinja").write_text(CHAT)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def folder(trained_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained_folder, tmp_path / "old"))


def printed_report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments, "--json"]) == 0, capsys.readouterr()
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content


CORPUS = str(TEXTS / "code.txt")
COMMANDS = {
    "extend": ("extend", "{}/", "--corpus", CORPUS, "--by", "20", "-o"),
    "extend a file": ("extend", "{}/tokenizer.json", "--corpus", CORPUS, "--by", "20", "-o"),
    "trim": ("trim", "{}", "--remove", "330,335", "-o"),
    "trim with holes": ("trim", "{}/", "--remove", "330,335", "--ids", "keep", "-o"),
    "replace": ("replace", "{}/", "--corpus", CORPUS, "--swap", "9", "-o"),
    "merge": ("merge", "{}", "{}/tokenizer.json", "-o"),
    "convert": ("convert", "{}"),
    "export": ("export", "--merges", "{}"),
    "specials": ("specials", "{}", "--rename", "<|spare|>=<|user|>", "-o"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_changes_a_tokenizer_folder_keeps_its_sidecar_files(
    folder: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    report = printed_report(capsys, *(word.format(folder) for word in COMMANDS[name]), f"{new}/")
    names = {path.name for path in folder.iterdir()} - {"model.safetensors"}
    assert {path.name for path in new.iterdir()} == names | {"idmap.npz"}
    assert any("model.safetensors" in sentence for sentence in report["cannot_hold"])
    renames = name == "specials"
    given = bpe.IdMap.of(bpe.open(folder), bpe.open(new), renamed={"<|spare|>": "<|user|>"} if renames else {})
    assert given.difference(bpe.read_id_map(new / "idmap.npz")) == ""
    for side in ("tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        same = (new / side).read_bytes() == (folder / side).read_bytes()
        assert same == (not renames or side.startswith("gen")) or (name == "trim" and side.startswith("gen"))
    loaded = tokenizers.Tokenizer.from_file(str(new / "tokenizer.json"))
    before = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    ours = bpe.open(new)
    for sample in SAMPLES:
        assert ours.encode(sample) == loaded.encode(sample, add_special_tokens=False).ids
        assert loaded.encode(sample).ids == [0, *ours.encode(sample)]  # the token put before each text stays
    assert (loaded.padding or {})["pad_id"] == (before.padding or {})["pad_id"] == 2
    assert loaded.token_to_id("<|user|>" if renames else "<|spare|>") == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_transformers_loads_an_edited_tokenizer_folder_with_the_same_special_tokens_and_settings(
    folder: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers")
    new = tmp_path / "new"
    report = printed_report(capsys, *(word.format(folder) for word in COMMANDS[name]), f"{new}/")
    assert report["asked"] == "tokenizers and transformers"
    before, now = (
        transformers.AutoTokenizer.from_pretrained(str(path), local_files_only=True) for path in (folder, new)
    )
    rename = (lambda text: text.replace("<|spare|>", "<|user|>")) if name == "specials" else (lambda text: text)
    for role in ("bos", "eos", "pad", "unk"):
        assert getattr(now, f"{role}_token") == getattr(before, f"{role}_token")
        assert getattr(now, f"{role}_token_id") == getattr(before, f"{role}_token_id")
    assert (now.padding_side, now.model_max_length) == ("left", 512)
    assert now.chat_template == rename(before.chat_template)
    chat = [{"role": "user", "content": "low"}]
    text = now.apply_chat_template(chat, tokenize=False)
    assert text == rename(before.apply_chat_template(chat, tokenize=False))
    ours = bpe.open(new)
    for sample in (*SAMPLES, text):
        assert now(sample)["input_ids"] == [0, *ours.encode(sample)]
        assert now.decode(ours.encode(sample)) == sample


def test_ids_in_the_sidecar_files_of_a_changed_folder_are_updated(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    report = printed_report(capsys, "trim", str(folder), "--remove", "1,290", "-o", f"{tmp_path}/new/")
    now = tokenizers.Tokenizer.from_file(f"{tmp_path}/new/tokenizer.json")
    generation = read_json(tmp_path / "new/generation_config.json")
    expected = now.token_to_id(str(old.id_to_token(300)))
    assert expected == 298
    assert generation == {"bos_token_id": 0, "eos_token_id": [2], "pad_token_id": 1, "suppress_tokens": [-1, expected]}
    sentences = " ".join((*report["chosen"], *report["cannot_hold"]))
    assert "the role eos_token to “<|end|>”, which no longer exists" in sentences
    assert "names the id 1 in eos_token_id, but its token no longer exists. This id was removed" in sentences
    assert "The chat template in chat_template.jinja uses “<|end|>”, which no longer exists" in sentences
    assert "added “<|end|>” to texts by its post_processor" in sentences
    assert now.encode("low", "low").ids == [0, *now.encode("low").ids[1:], *now.encode("low").ids[1:]]
    assert read_json(tmp_path / "new/tokenizer_config.json")["eos_token"] is None
    assert (now.padding or {})["pad_id"] == 1


def test_extending_a_tokenizer_beyond_the_embeddings_of_its_model_is_reported(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = printed_report(capsys, "extend", str(folder), "--corpus", CORPUS, "--by", "20", "-o", f"{tmp_path}/new/")
    assert any("340 embeddings, but the ids now go up to 359" in sentence for sentence in report["chosen"])
    assert read_json(tmp_path / "new/config.json")["vocab_size"] == 340


def test_writing_an_edited_folder_as_a_single_file_reports_the_files_that_are_left_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = printed_report(capsys, "trim", str(folder), "--remove", "330", "-o", f"{tmp_path}/small.tokenizer.json")
    assert any("tokenizer_config.json" in note and "not written with a single file" in note for note in report["notes"])
    loaded = tokenizers.Tokenizer.from_file(f"{tmp_path}/small.tokenizer.json")
    assert loaded.encode("low").ids[0] == 0  # the file itself puts the token before each text


def test_options_of_the_export_command_replace_the_settings_of_the_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = tmp_path / "other.jinja"
    chat.write_text("{{ messages }}")
    words = ["--pad", "<|new|>", "--padding-side", "right", "--chat-template", str(chat)]
    printed_report(capsys, "export", "--merges", str(folder), f"{tmp_path}/new/", *words)
    config = read_json(tmp_path / "new/tokenizer_config.json")
    assert config == {**CONFIG, "pad_token": "<|new|>", "padding_side": "right"}
    assert (tmp_path / "new/chat_template.jinja").read_text() == "{{ messages }}"
    assert tokenizers.Tokenizer.from_file(f"{tmp_path}/new/tokenizer.json").token_to_id("<|new|>") == 340


def test_a_session_is_exported_with_the_sidecar_files_of_a_given_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = str(tmp_path / "run.bpex")
    assert run(["extend", str(folder), "--corpus", CORPUS, "--by", "20", "-o", session]) == 0
    capsys.readouterr()
    printed_report(capsys, "export", "--merges", session, f"{tmp_path}/new/", "--like", str(folder), "--eos", "<|pad|>")
    config = read_json(tmp_path / "new/tokenizer_config.json")
    assert config == {**CONFIG, "eos_token": "<|pad|>"}
    loaded = tokenizers.Tokenizer.from_file(str(tmp_path / "new/tokenizer.json"))
    assert loaded.get_vocab_size() == 360
    assert loaded.encode("def low").ids == [0, *bpe.open(session).encode("def low")]
    (tmp_path / "empty").mkdir()
    shutil.copy(folder / "tokenizer.json", tmp_path / "empty")
    mistakes = {"no other tokenizer files": [f"{tmp_path}/newer/", "--like", str(tmp_path / "empty")]}
    mistakes |= {"only to a folder": [f"{tmp_path}/t.tokenizer.json", "--like", str(folder)]}
    for sentence, words in mistakes.items():
        assert run(["export", "--merges", session, *words]) == 1
        assert sentence in capsys.readouterr().err


def test_editing_a_tokenizer_folder_also_changes_merges_txt_or_leaves_merges_txt_out_with_a_notice(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If merges.txt and tokenizer.json gave different ids before, merges.txt is left out, and a message says so."""
    loaded = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    loaded.model.save(str(folder))
    assert not any("merges.txt" in note for note in printed_report(capsys, "import", str(folder))["notes"])
    for number, words in enumerate((["trim", str(folder), "--remove", "330"], COMMANDS["extend"])):
        new = tmp_path / f"new{number}"
        words = [word.format(folder) for word in words if word != "-o"]
        printed_report(capsys, *words, "-o", f"{new}/")
        now = tokenizers.Tokenizer.from_file(str(new / "tokenizer.json")).get_vocab()
        assert read_json(new / "vocab.json") == now
        pair, whole = bpe.open(new / "merges.txt"), bpe.open(new)
        assert pair.encode("def lowest") == whole.encode("def lowest")
    vocabulary = read_json(folder / "vocab.json")
    vocabulary |= {"a": vocabulary["b"], "b": vocabulary["a"]}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    report = printed_report(capsys, "import", str(folder))
    said = "merges.txt in the same folder and tokenizer.json give “"
    assert any(said in note and "different ids" in note for note in report["notes"])
    report = printed_report(capsys, "trim", str(folder), "--remove", "330", "-o", f"{tmp_path}/other/")
    assert not (tmp_path / "other/merges.txt").exists()
    assert any(
        "merges.txt is left out: in the old folder, this file and" in sentence for sentence in report["cannot_hold"]
    )


def test_editing_a_folder_also_edits_the_sentencepiece_model_next_to_tokenizer_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    (tmp_path / "model").mkdir()
    sentencepiece.SentencePieceTrainer.train(
        input=str(TEXTS / "prose.txt"), model_prefix=str(tmp_path / "model/tokenizer"), vocab_size=420, minloglevel=2,
        model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
    )  # fmt: skip
    (tmp_path / "model/tokenizer.vocab").unlink()
    folder = tmp_path / "both"
    printed_report(capsys, "convert", f"{tmp_path}/model", f"{folder}/", "--to", "tokenizer.json")
    shutil.copy(tmp_path / "model/tokenizer.model", folder)
    new = tmp_path / "new"
    words = ["--rename", "</s>=<end>", "--remove", "<s>", "--add", "<user>"]
    printed_report(capsys, "specials", str(folder), *words, "-o", f"{new}/")
    printed_report(capsys, "trim", str(new), "--remove", "300,310", "-o", f"{new}er/")
    model = sentencepiece.SentencePieceProcessor(model_file=f"{new}er/tokenizer.model")
    whole = tokenizers.Tokenizer.from_file(f"{new}er/tokenizer.json")
    for sample in ("the lowest price", "né", "  two spaces"):
        assert model.encode(sample) == whole.encode(sample, add_special_tokens=False).ids
    assert [model.piece_to_id(text) for text in ("<end>", "<user>")] == [
        whole.token_to_id(text) for text in ("<end>", "<user>")
    ]


def test_new_tokens_get_no_id_that_a_sidecar_file_already_uses(
    trained_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files merges.txt and vocab.json list no added tokens.

    The file added_tokens.json and the configuration give the ids of these tokens.
    """
    folder = tmp_path / "pair"
    folder.mkdir()
    tokenizers.Tokenizer.from_file(str(trained_folder / "tokenizer.json")).model.save(str(folder))
    token = {"content": "<|user|>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    config = {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"340": {**token, "special": True}}}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**config, "unk_token": "<|end|>", "bos_token": "<|end|>"})
    )
    (folder / "added_tokens.json").write_text(json.dumps({"<|user|>": 340}))
    report = printed_report(capsys, "extend", str(folder), "--corpus", CORPUS, "--by", "20", "-o", f"{tmp_path}/new/")
    assert report["new_ids"] == [341, 360]
    report = printed_report(capsys, "specials", f"{tmp_path}/new", "--add", "<|tool|>", "-o", f"{tmp_path}/newer/")
    assert report["added"] == {"<|tool|>": 361}
    assert read_json(tmp_path / "newer/added_tokens.json") == {"<|user|>": 340, "<|tool|>": 361}
    assert [*read_json(tmp_path / "newer/tokenizer_config.json")["added_tokens_decoder"]] == ["340", "361"]


def test_editing_a_tokenizer_folder_also_changes_the_vocab_txt_beside_tokenizer_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train(
        [str(TEXTS / "prose.txt")],
        trainers.WordPieceTrainer(vocab_size=150, special_tokens=names, show_progress=False),
    )
    made.post_processor = processors.BertProcessing(("[SEP]", 4), ("[CLS]", 3))
    folder, new = tmp_path / "bert", tmp_path / "new"
    folder.mkdir()
    whole = json.loads(made.to_str())
    whole["added_tokens"] = [token for token in whole["added_tokens"] if "unused" not in token["content"]]
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    lines = [text for text, _ in sorted(made.get_vocab().items(), key=lambda row: row[1])]
    (folder / "vocab.txt").write_text("".join(f"{line}\n" for line in lines))
    roles = {f"{role.strip('[]').lower()}_token": role for role in names if "unused" not in role}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **roles}))
    words = ["--rename", "[unused0]=[USER]", "--rename", "[SEP]=<sep>"]
    printed_report(capsys, "specials", str(folder), *words, "-o", f"{new}/")
    renamed = {"[unused0]": "[USER]", "[SEP]": "<sep>"}
    assert (new / "vocab.txt").read_text().splitlines() == [renamed.get(line, line) for line in lines]
    loaded = tokenizers.Tokenizer.from_file(str(new / "tokenizer.json"))
    assert loaded.encode("[USER] low").ids[:2] == [3, 1]
    assert loaded.encode("low").tokens[-1] == "<sep>"
    assert read_json(new / "tokenizer_config.json")["sep_token"] == "<sep>"


def test_writing_into_the_input_folder_or_a_folder_with_unrelated_files_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.txt").write_text("mine")
    (tmp_path / "file").touch()
    mistakes = {
        str(folder): "is the input table itself",
        f"{strange}/": "holds thesis.txt",
        f"{tmp_path}/file/": "is a file",
    }
    for out, sentence in mistakes.items():
        assert run(["trim", str(folder), "--remove", "330", "-o", out]) == 1
        assert sentence in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in strange.iterdir()] == ["thesis.txt"]


def test_a_damaged_sidecar_file_is_left_out_with_a_notice(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "generation_config.json").write_text("{not JSON")
    report = printed_report(capsys, "trim", str(folder), "--remove", "330", "-o", f"{tmp_path}/new/")
    assert any("generation_config.json is damaged" in sentence for sentence in report["chosen"])
    assert not (tmp_path / "new/generation_config.json").exists()


def test_saving_a_folder_from_python_copies_the_sidecar_files_of_the_original_folder(
    folder: Path, tmp_path: Path
) -> None:
    study = bpe.open(folder)
    study.save(f"{tmp_path}/copy/")
    assert read_json(tmp_path / "copy/tokenizer_config.json") == CONFIG
    done = bpe.change_specials(bpe.trim(study, [330]), rename={"<|spare|>": "<|user|>"})
    bpe.save(done, f"{tmp_path}/new/", like=folder)
    assert (tmp_path / "new/chat_template.jinja").read_text() == CHAT.replace("<|spare|>", "<|user|>")
    assert read_json(tmp_path / "new/tokenizer_config.json")["additional_special_tokens"] == ["<|user|>"]
    assert len(bpe.open(tmp_path / "new")) == len(study) - 1
    with pytest.raises(bpe.OutputError, match="with the argument `like`, name the folder to copy"):
        bpe.save(bpe.train(["low low"], "gpt2", merges=1), f"{tmp_path}/of nothing/")
