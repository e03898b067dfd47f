"""Tests of imported tokenizers.

A page that needs counts must say that they are missing. All other pages must work. The user can add the
counts later.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.session.run import Phase, Run
from app.window.charts.pairs_page import PairsPage
from app.window.exchange.cached_dialog import CachedDialog
from app.window.questions.question_page import QuestionPage
from app.window.questions.token.page import TokenPage
from app.window.questions.why.page import WhyPage
from app.window.text.pasted_ids import decode_ids
from app.wiring import Program
from bpe_core.delivery.folder import deliver
from bpe_core.formats import FORMATS, read_history, write_history
from bpe_core.history.token_texts import shown as shown_text
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.gui.conftest import WAIT, export_to, settle, wait_for_phase, wait_for_rest
from tests.gui.small_run import shown_run
from tests.shared import available_texts, path_of, text_of

pytestmark = pytest.mark.usefixtures("only_window")

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3
HISTORY = train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=40))


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere.tiktoken"
    write_history(HISTORY, path)
    return path


@pytest.fixture
def imported_run(qtbot: QtBot, program: Program, ranks: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Open a table that a different program made, and return its run."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (str(ranks), ""))
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.actions["import"].trigger()
    return shown_run(program)


def test_an_imported_table_is_shown_as_a_history_without_counts(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    assert (imported_run.learned, imported_run.phase, imported_run.recipe.name) == (
        40,
        Phase.ENDED,
        "elsewhere.tiktoken",
    )
    assert program.merges.rowCount() == 40
    assert program.merges.data(program.merges.index(0, 4)) == ""  # no count
    assert "40 merges (tiktoken)" in program.messages.sentence.text()
    assert "does not say how text is split" in program.messages.details.toPlainText()
    assert program.training.status.main == "train"
    assert "The file has no counts" in program.training.status.sentence


def test_opening_a_tokenizer_reports_a_file_in_the_same_folder_with_different_tokens(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    deliver(HISTORY, folder)
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(folder / "tokenizer.json")
    assert "in the same folder" not in program.messages.sentence.text()
    write_history(HISTORY.first(30), folder / "smaller.tiktoken")
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(folder / "tokenizer.json")
    differs = "smaller.tiktoken in the same folder has 0 tokens that tokenizer.json lacks, and lacks 10 tokens"
    assert differs in program.messages.sentence.text()


def test_an_imported_table_splits_the_text_at_the_shown_step(qtbot: QtBot, program: Program, imported_run: Run) -> None:
    program.token_text.set_text("the lowest price")
    settle(qtbot, program)
    tokenizer = Tokenizer(HISTORY)
    for at in (40, 30, 5, 0):
        program.session.cursor.go_to(at)
        ids = program.token_text.tokens_between(0, 16).ids.tolist()
        assert ids == tokenizer.encode("the lowest price", at=at)


def test_the_token_inspector_and_the_merge_filter_work_for_an_imported_table(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    program.token.look_at(256 + 30)
    facts = program.token.facts
    assert facts is not None
    assert bytes.fromhex(facts.rows["Bytes"]) == Tokenizer(HISTORY).token_bytes(286)
    assert facts.parts == (int(HISTORY.columns.left[30]), int(HISTORY.columns.right[30]))
    assert "the table has no counts" in facts.rows["Decided"]
    program.merge_panel.needle.setText("low")
    expected = [merge for merge in HISTORY if b"low" in Tokenizer(HISTORY).token_bytes(merge.index)]
    assert program.merges.rowCount() == len(expected) > 0


def test_the_merge_tree_of_a_word_is_shown_for_an_imported_table(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    program.token_text.set_text("a lower price")
    settle(qtbot, program)
    program.actions["why"].trigger()
    program.pages[WhyPage].model.look_at(3)
    wait_for_rest(qtbot, program)
    facts = program.pages[WhyPage].model.facts
    assert facts is not None
    assert "".join(tree.text for tree in facts.split_after(facts.at)) == "␣lower"
    expected = [shown_text(Tokenizer(HISTORY).token_bytes(id)) for id in Tokenizer(HISTORY).encode(" lower")]
    assert [tree.text for tree in facts.split_after(facts.at)] == expected


def test_every_chart_of_an_imported_table_shows_values_or_asks_for_counts(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    for tab in range(program.charts.count()):
        program.charts.setCurrentIndex(tab)
        program.session.cursor.go_to(10 + tab)
        wait_for_rest(qtbot, program)
    program.charts.show_page("compression")
    shown = program.charts.page
    assert isinstance(shown, QuestionPage)
    assert "The number of tokens in the corpus is unknown" in shown.sentence.text()
    program.charts.show_page("pairs")
    assert program.pages[PairsPage].model.lacks_words
    assert not program.pages[PairsPage].model.is_waiting


def test_an_imported_table_can_be_exported(qtbot: QtBot, program: Program, imported_run: Run, tmp_path: Path) -> None:
    with qtbot.waitSignal(program.exchanging.export.ended, timeout=WAIT):
        export_to(program, tmp_path / "tokenizer.json", "tokenizer.json")
    back = read_history(tmp_path / "tokenizer.json")
    assert back.columns.left.tolist() == HISTORY.columns.left.tolist()


def test_counting_the_training_text_of_an_imported_table_restores_the_counts_of_the_table(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    """In the text from which the table was learned, the pairs have the same counts as during training."""
    program.session.corpus.replace_by_text("small", TEXT)
    assert program.actions["count_imported"].isEnabled()
    program.session.cursor.go_to(12)
    program.actions["count_imported"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    run = shown_run(program)
    assert run is imported_run
    assert run.history is not None
    for name, column in HISTORY.columns._asdict().items():
        assert getattr(run.history.columns, name).tolist() == column.tolist(), name
    assert program.merges.data(program.merges.index(0, 4)) == str(HISTORY.columns.count[0])
    assert "The merges were counted on 1 text." in program.training.status.sentence
    assert program.session.cursor.position == 12
    assert not program.actions["count_imported"].isEnabled()


def test_a_leading_pair_is_not_marked_as_next_if_the_imported_table_joins_a_different_pair(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    """The table was learned from different texts, so it may not join the pair that leads in these texts."""
    program.session.corpus.replace_by_text("other", "zzz zzz zzz the")
    program.actions["count_imported"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    program.session.cursor.go_to(0)
    settle(qtbot, program)
    assert program.pages[PairsPage].model.bars[0].left == "z"
    assert not program.pages[PairsPage].model.bars[0].is_next


def test_counting_the_merges_of_an_imported_table_without_a_corpus_is_refused(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    program.session.corpus.texts.put((), "Empty")
    program.actions["count_imported"].trigger()
    assert "no text in which to count" in program.messages.sentence.text()
    assert imported_run.phase is Phase.ENDED


def test_counting_an_imported_table_can_be_stopped(qtbot: QtBot, program: Program, imported_run: Run) -> None:
    program.session.corpus.replace_by_text("larger", TEXT * 3_000)
    program.actions["count_imported"].trigger()
    program.actions["stop"].trigger()
    assert imported_run.phase is Phase.ENDED
    assert "have no counts" in imported_run.sentence
    qtbot.waitUntil(lambda: not program.session.corpus.counts.is_busy, timeout=WAIT)
    assert program.actions["count_imported"].isEnabled()


def test_training_can_add_merges_to_an_imported_table_after_counting(
    qtbot: QtBot, program: Program, imported_run: Run
) -> None:
    program.session.corpus.replace_by_text("small", TEXT)
    program.actions["count_imported"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    program.session.runs.extend(imported_run.recipe.with_changes(merges=42))
    wait_for_phase(qtbot, program, Phase.ENDED)
    longer = train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=42))
    assert imported_run.history is not None
    assert imported_run.history.columns.left.tolist() == longer.columns.left.tolist()


def test_an_imported_table_is_kept_in_the_session_file(
    qtbot: QtBot, new_program: Callable[..., Program], program: Program, imported_run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "kept.bpex"
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(path)
    other = new_program()
    with qtbot.waitSignal(other.filing.document.opened, timeout=WAIT):
        other.filing.open(path)
    run = shown_run(other)
    assert (run.learned, run.recipe.name, run.sentence) == (40, "elsewhere.tiktoken", imported_run.sentence)
    assert run.history is not None
    assert not run.history.has_counts
    assert other.actions["count_imported"].isEnabled()


DAMAGED = {
    "codes": (b"#version: 0.2\nl o\nlow er\n", "line 3"),
    "tokenizer.json": (b'{"model": {"vocab": ' + b"[" * 100_000, "too deep"),
    "ours.tiktoken": (b"IQ== 0\nIg== -1\n", "line 2"),
    "ours.model": (b"minbpe v1\n\n0\n97 300\n", "line 4"),
    "spm.model": (b"\x0a\x08\x0a\x01a\x15\0\0\0\0\x0a\xff\xff\xff\xff\x07", "claims"),
    "picture.png": (b"\x89PNG\r\n\x1a\n", "not a merge table that this program can read"),
    "empty": (b"", "is empty"),
}


def test_importing_a_damaged_file_leaves_the_session_unchanged(
    qtbot: QtBot, program: Program, imported_run: Run, tmp_path: Path
) -> None:
    before = list(program.session.runs.all)
    for name, (data, sentence) in DAMAGED.items():
        path = tmp_path / name
        path.write_bytes(data)
        with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
            program.exchanging.open(path)
        message = program.messages.sentence.text()
        assert sentence in message, message
        assert name in message
        assert program.session.runs.all == before
        assert shown_run(program) is imported_run


def test_importing_tokens_that_would_fill_the_memory_is_refused(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    path = tmp_path / "doubling.model"
    lines = [b"97 97", *(b"%d %d" % (id, id) for id in range(256, 284))]
    path.write_bytes(b"minbpe v1\n\n0\n" + b"\n".join(lines) + b"\n")
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    assert "step 29: the tokens up to this step have more than 536,870,912 bytes" in program.messages.sentence.text()


def test_opening_a_tokenizer_file_can_be_cancelled(qtbot: QtBot, program: Program, ranks: Path) -> None:
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(ranks)
        program.exchanging.imports.cancel()
    assert program.session.runs.shown is None


def test_a_tokenizer_file_dropped_on_the_window_is_recognized_by_its_content(
    qtbot: QtBot, program: Program, ranks: Path
) -> None:
    ranks = ranks.rename(ranks.with_name("notes.txt"))
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.window.files_dropped.emit([ranks])
    assert shown_run(program).learned == 40
    assert all(source.path != ranks for source in program.session.corpus.texts.value)
    text = ranks.with_name("text.tiktoken")
    text.write_text("This is a text, whatever it is called.")
    program.window.files_dropped.emit([text])
    qtbot.waitUntil(lambda: any(source.path == text for source in program.session.corpus.texts.value), timeout=WAIT)
    assert shown_run(program).learned == 40


def test_differences_between_an_imported_file_and_its_table_are_reported(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    file = io.BytesIO()
    FORMATS["tokenizer.json"].write(HISTORY, file)
    whole = json.loads(file.getvalue())
    whole["model"]["dropout"] = 0.1
    whole["model"]["vocab"] = {text: number + 5 for text, number in whole["model"]["vocab"].items()}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole))
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    details = program.messages.details.toPlainText()
    assert "dropout" in details
    assert "does not number its tokens in the order of the steps" in details


def ranks_learned_here(folder: Path) -> tuple[Path, list[int]]:
    """Train a table of 9,000 ranks with the package rustbpe, and write it to a file.

    Return the path of the file, and the ids that rustbpe gives to "hello world".
    """
    theirs = pytest.importorskip("rustbpe", reason="the package rustbpe is not installed").Tokenizer()
    theirs.train_from_iterator([text_of("made/languages") + text_of("made/english")], 9_000)
    lines = [base64.b64encode(bytes(token)) + b" %d\n" % rank for token, rank in theirs.get_mergeable_ranks()]
    (folder / "ranks.tiktoken").write_bytes(b"".join(lines))
    return folder / "ranks.tiktoken", list(theirs.encode("hello world"))


LARGE = {"data/gpt2/vocab.bpe": [31373, 995], "data/tiktoken/cl100k_base.tiktoken": [15339, 1917]}


@pytest.mark.parametrize("name", ["learned here", *available_texts(*LARGE)])
def test_large_imported_tables_give_the_expected_ids_for_a_short_text(
    qtbot: QtBot, program: Program, tmp_path: Path, name: str
) -> None:
    path, numbers = (path_of(name), LARGE[name]) if name in LARGE else ranks_learned_here(tmp_path)
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    program.token_text.set_text("hello world")
    settle(qtbot, program)
    assert program.token_text.tokens_between(0, 11).ids.tolist() == numbers


def test_ids_shown_for_an_imported_table_are_the_ids_of_its_file(
    qtbot: QtBot, new_program: Callable[..., Program], program: Program, tmp_path: Path
) -> None:
    """Many other programs give the first ids to special tokens.

    The window shows the ids of the file, also after the session was saved and opened again.
    """
    file = io.BytesIO()
    FORMATS["tokenizer.json"].write(HISTORY, file)
    whole = json.loads(file.getvalue())
    whole["model"]["vocab"] = {text: number + 2 for text, number in whole["model"]["vocab"].items()}
    whole["added_tokens"] = [{"id": id, "content": text, "special": True} for id, text in enumerate(("<s>", "</s>"))]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole))
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(tmp_path / "kept.bpex")
    other = new_program()
    with qtbot.waitSignal(other.filing.document.opened, timeout=WAIT):
        other.filing.open(tmp_path / "kept.bpex")
    expected = [id + 2 for id in Tokenizer(HISTORY).encode("the lowest")]
    for window in (program, other):
        window.token_text.set_text("the lowest")
        settle(qtbot, window)
        assert window.text_panel.ids.grid.selected_ids() == expected
        assert decode_ids(" ".join(map(str, expected)), shown_run(window)).text == "the lowest"
        assert "no token with the id 9999" in decode_ids("9999", shown_run(window)).text
        window.token.look_at(256)
        assert window.pages[TokenPage].facts["Id"].text() == "258 in its file"
    (tmp_path / "text.txt").write_text("the lowest")
    with qtbot.waitSignal(program.exchanging.encoding.finished, timeout=WAIT):
        program.exchanging.encoding.start([tmp_path / "text.txt"], len(HISTORY), None, tmp_path / "ids.npy")
    assert np.load(tmp_path / "ids.npy").tolist() == expected


PIECES = (
    '{"model": {"type": "Unigram", "unk_id": 1, "vocab": [["</s>", 0], ["<unk>", 0], ["▁", -2], ["a", -3], ["b", -3], \
["▁ab", -4], ["ab", -5]]}, "added_tokens": [{"id": 0, "content": "</s>", "special": true}], \
"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}}'
)
TOKENS = "[PAD]\n[UNK]\na\nb\n##a\n##b\nab\n##ab\n"


@pytest.mark.parametrize(
    ("name", "content", "numbers"),
    [("vocab.txt", TOKENS, [6, 7, 2, 1]), ("tokenizer.json", PIECES, [5, 6, 2, 3, 2, 1])],
    ids=["WordPiece", "Unigram"],
)
def test_a_vocabulary_without_merges_can_be_opened_and_shown_and_exported_again(
    qtbot: QtBot, program: Program, tmp_path: Path, name: str, content: str, numbers: list[int]
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(tmp_path / name)
    program.token_text.set_text("abab a ☃")
    settle(qtbot, program)
    assert (shown_run(program).learned, shown_run(program).phase) == (0, Phase.ENDED)
    assert program.runs_panel.delete.isEnabled()  # as the run shown is chosen in the list
    assert program.text_panel.ids.grid.selected_ids() == numbers
    export = program.exchanging.export
    with qtbot.waitSignal(export.checked, timeout=WAIT) as checked:
        export.prepare(tmp_path / "tokenizer-again.json", "tokenizer.json")
    assert checked.args[0].verification.agrees
    assert not any("other ids" in sentence for sentence in checked.args[0].verification.cannot_hold)


def test_tokens_of_a_vocabulary_without_merges_are_counted_in_the_corpus(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    """No page may ask for counts of merges, because the table has no merges."""
    (tmp_path / "vocab.txt").write_text(TOKENS, encoding="utf-8")
    program.session.corpus.replace_by_text("small", TEXT)
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(tmp_path / "vocab.txt")
    assert not program.actions["count_imported"].isEnabled()
    assert program.caption.shown.sentence == "This tokenizer has no merges. These are its tokens"
    assert "No pairs lead" in program.pages[PairsPage].headline()
    program.charts.show_page("ranks")
    wait_for_rest(qtbot, program)
    page, table = program.charts.page, Tokenizer(read_history(tmp_path / "vocab.txt"))
    assert isinstance(page, QuestionPage)
    assert page.model.answer is not None, page.model.trouble
    assert sum(page.model.answer.columns["count"]) == len(table.encode(TEXT))


def test_the_leading_pairs_of_a_table_with_counts_but_without_texts_are_shown_as_unknown(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    bpe.train([TEXT], "gpt2", merges=3, min_frequency=1).save(tmp_path / "table.csv")
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(tmp_path / "table.csv")
    headline = program.pages[PairsPage].headline()
    assert headline == "The leading pairs are unknown, because the texts of this table are unknown."


def test_a_tokenizer_is_opened_from_the_hugging_face_cache(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "models--somebody--small" / "snapshots" / "abc"
    place.mkdir(parents=True)
    write_history(HISTORY, place / "tokenizer.json")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(CachedDialog, "exec", lambda dialog: dialog.open_button.click())
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.actions["import"].trigger()
    assert (shown_run(program).learned, shown_run(program).recipe.name) == (40, "small")
