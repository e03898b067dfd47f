"""Tests of the audit of tokens and of its commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.formats import open_table, write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.audit import Audit, TokenPlaces, audit
from bpe_core.insight.reachability import reachability, unreachable_tokens
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.merging import Merges
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

Printed = pytest.CaptureFixture[str]


def test_auditing_all_tokens_at_once_gives_the_same_result_as_auditing_each_token() -> None:
    trained = train(Corpus.from_texts([text_of("prose")[:800]]), Recipe.preset("gpt2", merges=60))
    mixed_up = [*trained.pairs(), (104, 101), (97, 98), (316, 99), (99, 100), (98, 319), (255, 97), (97, 32)]
    history = History.from_pairs(trained.recipe, Alphabet.of_bytes(), mixed_up)
    merges, tokenizer = Merges(history), Tokenizer(history)
    alone = {
        id: reachability(history, id, merges=merges, tokenizer=tokenizer)
        for id in range(history.index_count - 12, history.index_count)
    }
    unreachable = unreachable_tokens(history)
    assert {*unreachable} == {id for id, outcome in alone.items() if outcome.kind != "reachable"}
    assert {reason.kind for reason in unreachable.values()} == {"falls apart", "no text", "not found"}


def test_the_audit_classifies_tokens_even_if_no_corpus_is_given() -> None:
    recipe = Recipe.preset("words", merges=40, vocab_size=None)
    history = learn(WordTable.from_counts({"aβaβ": 9, "incomprehensibilities": 9}), recipe)
    audited = audit(history)
    assert min(audited.totals["mixed"], audited.totals["long"]) > 0
    assert not audited.ids("broken", "unreachable")
    assert "rare" not in audited.meets  # nothing is known of a corpus
    bytes_of = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(0xC3, 0xA9), (0xA9, 97)])
    assert audit(bytes_of).ids("broken") == [257]


def test_the_audit_classifies_tokens_by_how_often_and_in_how_many_files_they_are_used() -> None:
    tables = [WordTable.from_counts({"the": 300, "then": 2}), WordTable.from_counts({"the": 4, "thin": 7})]
    pairs = [(116, 104), (256, 101), (257, 110), (256, 105), (258, 99)]  # th, the, then, thi, thenc
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    places = TokenPlaces.of(tables, history)
    audited: Audit = audit(history, places, rare=5)
    assert places.counts[256:].tolist() == [0, 304, 2, 7, 0]
    ids_by_class = {name: audited.ids(name) for name in ("scaffold", "unused", "rare", "one-file")}
    assert ids_by_class == {"scaffold": [256], "unused": [260], "rare": [258], "one-file": [258, 259]}
    pieces = learn(tables[0], Recipe.preset("unigram", vocab_size=8, seed_size=50))
    audited, dropped = audit(pieces, TokenPlaces.of(tables, pieces)), pieces.columns.left.tolist()
    assert {*audited.totals} >= {"unused", "unreachable"}
    assert dropped
    assert not {*dropped} & {*audited.ids(*audited.meets)}  # dropped tokens are not listed


def test_the_audit_and_trim_commands_list_and_remove_tokens(tmp_path: Path, capsys: Printed) -> None:
    first, second, table = (tmp_path / name for name in ("one.txt", "other.txt", "merges.csv"))
    first.write_text(text_of("prose")[:1_500], encoding="utf-8")
    second.write_text(text_of("poem")[:1_500], encoding="utf-8")
    write_history(train(Corpus.from_files([first]), Recipe.preset("gpt2", merges=120)), table)
    corpus = ["--corpus", str(first), str(second)]
    for ending in ("csv", "tsv", "json"):
        out = tmp_path / f"audit.{ending}"
        asked = ["audit", str(table), *corpus, "--only", "one-file,unused", "--sort", "count", "-o", str(out)]
        assert run(asked) == 0
    rows = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    listed = list(csv.reader((tmp_path / "audit.tsv").read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    assert len(listed) == len(rows) + 1
    assert listed[0][:3] == ["id", "token", "hex"]
    assert {row["only_in"] for row in rows} == {str(first), str(second)}
    assert bytes.fromhex(rows[0]["hex"]).decode() == rows[0]["token"].replace("␣", " ")
    assert "one-file" in capsys.readouterr().out

    small = tmp_path / "small.csv"
    assert run(["trim", str(table), "--down-to", "300", *corpus, "--text", "the", "-o", str(small)]) == 0
    assert "- The corpus: " in capsys.readouterr().out
    assert open_table(small).history.index_count == 300
    assert (
        run(["trim", str(table), "--remove", "256", "--needed", "hide", "--json", "-o", str(tmp_path / "h.json")]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["hidden"], report["removed"], report["verified"]) == (1, 0, True)
    assert run(["merge", str(small), str(table), *corpus, "-o", str(tmp_path / "both.csv")]) == 0
    assert "come from the first" in capsys.readouterr().out
    assert open_table(tmp_path / "both.csv").history.index_count == 256 + 120

    mistakes = {
        "Only a corpus shows which": ["audit", str(table), "--only", "rare"],
        "Only a corpus shows": ["trim", str(table), "--least-used", "5", "-o", str(small)],
        "no token with the id 99,999": ["trim", str(table), "--remove", "99999", "-o", str(small)],
        "Ask for at least 256": ["trim", str(table), "--down-to", "9", *corpus, "-o", str(small)],
        "--needed lose removes": ["trim", str(table), "--remove", str(rows and 256), "-o", str(small)],
        "must end in .svg": ["audit", str(table), "-o", str(tmp_path / "audit.doc")],
        "cannot say which tokens are one-file": ["audit", str(table), "--only", "one-file", "--corpus", str(first)],
    }
    for report, arguments in mistakes.items():
        assert run(arguments) != 0
        assert report in capsys.readouterr().err
