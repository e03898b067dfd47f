"""Tests of tokenizer folders: `transformers` gives the same ids, and a warning names each difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.delivery import folder as folders
from bpe_core.delivery.folder import Delivery, Roles, deliver, prepare_folder, roles_of
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import read_id_map
from bpe_core.errors import OutputError
from bpe_core.formats import open_table, write_history
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

CHAT = "{% for message in messages %}{{ message.content }}{% endfor %}"


def test_a_tokenizer_folder_written_by_the_program_is_loaded_by_transformers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("jinja2")  # transformers renders templates with jinja2; the test packages include both
    recipe = Recipe.preset("gpt2", merges=80, special_tokens=("<|endoftext|>", "two words"))
    history = train(Corpus.from_texts([text_of("poem")[:2_000]]), recipe)
    table, chat, out = tmp_path / "merges.csv", tmp_path / "chat.jinja", tmp_path / "deliv ered"
    write_history(history, table)
    chat.write_text(CHAT, encoding="utf-8")
    export = ["export", "--merges", str(table)]
    assert run([*export, f"{out}/", "--pad", "<pad>", "--padding-side", "left", "--chat-template", str(chat)]) == 0
    output = capsys.readouterr().out
    assert "transformers give the same" in output
    assert "“<pad>” is added" in output
    loaded = transformers.AutoTokenizer.from_pretrained(str(out), local_files_only=True)
    text = "the lowest price<|endoftext|> in two words, né?"
    ids = loaded(text)["input_ids"]
    assert ids == Tokenizer(history).encode(text, allowed_special="all")
    assert loaded.decode(ids) == text
    dialogue = [{"role": "user", "content": "the lowest"}, {"role": "assistant", "content": " price"}]
    assert loaded.apply_chat_template(dialogue, tokenize=False) == "the lowest price"
    assert (loaded.pad_token_id, loaded.eos_token_id, loaded.chat_template) == (338, 336, CHAT)
    batch = loaded([text, "t"], padding=True)
    assert batch["input_ids"][1][:-1] == [338] * (len(ids) - 1)
    assert "padding=True" in (out / "README.md").read_text(encoding="utf-8")
    now = open_table(out / "tokenizer.json").history
    assert now.index_count == 339
    assert IdMap.of(history, now).difference(read_id_map(out / "idmap.npz")) == ""

    # The id map starts from the table that the option names.
    old = history.first(60)
    deliver(history, tmp_path / "grown", old=old)
    id_map = read_id_map(tmp_path / "grown" / "idmap.npz")
    assert id_map.difference(IdMap.of(old, open_table(tmp_path / "grown" / "tokenizer.json"))) == ""
    assert id_map.added.sum() == 20

    # A configuration that contradicts the table is reported, and no file is written.
    config = folders.config_of(Delivery(Roles(pad="<|endoftext|>", eos="two words")))
    monkeypatch.setattr(folders, "config_of", lambda delivery: config)
    prepared = prepare_folder(history, tmp_path / "wrong", Delivery(roles_of(history), chat_template=CHAT))
    assert not prepared.verification.agrees
    assert any("for eos" in sentence for sentence in prepared.verification.differences)
    assert any("chat template" in sentence for sentence in prepared.verification.differences)
    with pytest.raises(OutputError, match="Nothing was written: not verified"):
        deliver(history, tmp_path / "wrong", chat_template=CHAT)
    assert not (tmp_path / "wrong").exists()

    mistakes = {
        "only to a folder": [str(tmp_path / "t.tokenizer.json"), "--pad", "<pad>"],
        "is a file": [f"{table}/"],
        "Leave out --to csv": [f"{out}/", "--to", "csv"],
        "Could not read the chat template": [f"{out}/", "--chat-template", str(tmp_path / "none")],
        "A special token can have": [f"{out}/", "--pad", "x" * 5_000],
    }
    for sentence, arguments in mistakes.items():
        assert run([*export, *arguments]) != 0
        assert sentence in capsys.readouterr().err
