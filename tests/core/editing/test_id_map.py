"""Tests of the id map between an old table and a new table.

The map has one row for each id. It spells each new token with tokens of the old table. Consecutive maps can be joined.
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.editing.extending import extend
from bpe_core.editing.id_map import NONE, IdMap
from bpe_core.editing.id_map_file import MAP_ENDINGS, read_id_map, write_id_map
from bpe_core.editing.specials import change_specials
from bpe_core.editing.trimming import trim
from bpe_core.errors import BpeError
from bpe_core.formats import FORMATS, write_history
from bpe_core.history.history import History
from bpe_core.history.ids_in_use import final_numbers
from bpe_core.insight.reachability import first_learned
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import ROOT, text_of

OLD = Corpus.from_texts([text_of("poem")[:800]])
NEW = Corpus.from_texts([text_of("prose")[:800] + text_of("greek")[:200]])
RECIPES = {
    "bytes": Recipe.preset("gpt2", merges=40, special_tokens=("<|end|>", "<pad>")),
    "characters": Recipe.preset("sentencepiece-like", merges=40, vocab_size=None),
    "ends of words": Recipe.preset("words", merges=40),
    "wordpiece": Recipe.preset("wordpiece", merges=40, vocab_size=None, special_tokens=("[PAD]",)),
    "unigram": Recipe.preset("unigram", vocab_size=None, merges=20),
}


@pytest.fixture(scope="module", params=RECIPES)
def two_tables(request: pytest.FixtureRequest) -> tuple[History, History]:
    recipe = RECIPES[request.param]
    return train(OLD, recipe), train(NEW, recipe)


@pytest.fixture(scope="module")
def table() -> History:
    history = train(OLD, RECIPES["bytes"])
    return history.numbered(np.arange(history.index_count) * 2 + 5)  # a file may leave out ids


def extend_table(history: History, by: int = 20) -> History:
    return extend(NEW, history, by).history


def numbers_once(id_map: IdMap, old: History, new: History) -> None:
    assert sorted(id_map.new[id_map.new != NONE].tolist()) == final_numbers(new)
    assert sorted(id_map.old[id_map.old != NONE].tolist()) == final_numbers(old)


def test_an_id_map_lists_each_id_once_and_gives_the_old_tokens_that_make_up_each_new_token(
    two_tables: tuple[History, History],
) -> None:
    old, new = two_tables
    id_map = IdMap.of(old, new)
    numbers_once(id_map, old, new)
    assert min(id_map.kept.sum(), id_map.added.sum(), id_map.gone.sum()) > 0
    before, now = Tokenizer(old), Tokenizer(new)
    unknown = old.alphabet.unknown_id
    for row in id_map.table().records():
        if row["new"] is None:
            assert row["parts"] == ()
            continue
        (index,) = new.indices_of([row["new"]])
        assert bytes.fromhex(row["hex"]) == now.token_bytes(index) or row["special"]
        parts = old.indices_of(row["parts"])
        if row["old"] is not None:
            assert row["parts"] == (row["old"],)
        assert sum(row["weights"]) == pytest.approx(1)
        if unknown not in parts:
            assert b"".join(before.token_bytes(part) for part in parts) == bytes.fromhex(row["hex"])


def test_an_id_map_splits_new_tokens_as_the_tokenizers_library_does_with_the_old_table(table: History) -> None:
    file = BytesIO()
    FORMATS["tokenizer.json"].write(table, file)
    library = tokenizers.Tokenizer.from_str(file.getvalue().decode())
    id_map = IdMap.of(table, train(NEW, RECIPES["bytes"]))
    rows = [row for row in id_map.table().records() if row["old"] is None]
    asked = 0
    for row in rows:
        text = bytes.fromhex(row["hex"]).decode(errors="replace")
        if "\ufffd" not in text:
            assert list(row["parts"]) == library.encode(text, add_special_tokens=False).ids
            asked += 1
    assert asked > 20


@settings(max_examples=8)
@given(data=st.data())
def test_two_consecutive_id_maps_are_joined_into_one_id_map(table: History, data: st.DataObject) -> None:
    mid = extend_table(table, data.draw(st.integers(1, 20)))
    ids = mid.numbers_of(np.arange(first_learned(mid), mid.first_special)).tolist()
    chosen = data.draw(st.sets(st.sampled_from(ids), max_size=9))
    if data.draw(st.booleans()):
        new = extend_table(mid, data.draw(st.integers(1, 9)))
    else:
        new = trim(mid, chosen, needed="lose", renumber=data.draw(st.booleans())).history
    direct = IdMap.of(table, new)
    numbers_once(direct, table, new)
    assert IdMap.of(table, mid).then(IdMap.of(mid, new)).difference(direct) == ""


def test_joining_two_id_maps_is_refused_if_the_second_does_not_begin_with_the_table_where_the_first_ends(
    table: History,
) -> None:
    other = train(NEW, RECIPES["bytes"]).numbered(table.numbers)
    first = IdMap.of(table, extend_table(table))
    for further, message in ((IdMap.of(table, other), "has no token with the id"), (first, "has no token")):
        with pytest.raises(BpeError, match=f"cannot be combined: .*{message}"):
            first.then(further)
    with pytest.raises(BpeError, match=r"is “.*” in the first map and “.*” in the second"):
        IdMap.of(other, table).then(IdMap.of(other, other))


def test_a_renamed_special_token_keeps_its_row_in_the_id_map(table: History) -> None:
    done = change_specials(table, rename={"<pad>": "<|user|>"}, add=["<|new|>"])
    id_map = IdMap.of(table, done.history, renamed=done.renamed)
    rows = {row["text"]: row for row in id_map.table().records()}
    assert rows["<|user|>"]["old"] == rows["<|user|>"]["new"]
    assert rows["<|new|>"]["old"] is None
    assert list(rows["<|new|>"]["parts"]) == table.numbers_of(Tokenizer(table).encode("<|new|>")).tolist()
    without = {row["text"]: row for row in IdMap.of(table, done.history).table().records()}
    assert without["<|user|>"]["old"] is None
    assert without["<pad>"]["new"] is None


def test_an_id_map_is_read_back_unchanged_in_every_format(table: History, tmp_path: Path) -> None:
    id_map = IdMap.of(table, train(NEW, RECIPES["bytes"]))
    for ending in MAP_ENDINGS:
        path = tmp_path / f"map{ending}"
        write_id_map(id_map, path)
        assert id_map.difference(read_id_map(path)) == ""
    other = IdMap.of(table, extend_table(table))
    assert "the new id" in id_map.difference(other)


def test_reading_an_invalid_id_map_file_is_refused_with_an_error_message(table: History, tmp_path: Path) -> None:
    id_map = IdMap.of(table, extend_table(table))
    write_id_map(id_map, tmp_path / "map.csv")
    lines = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()
    cases = {
        "twice.csv": ("\n".join([*lines, lines[-1]]), "is in two rows"),
        "foreign.csv": ("new,old\n1,2\n", "map of ids"),
        "parts.csv": ("new,old,text,hex,special,parts,weights\n7,,a,61,False,99,1.0\n", "99 is not the id of a token"),
        "empty.npz": ("", "map of ids"),
        "map.txt": ("", "map.txt must end in one of"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(BpeError, match=message):
            read_id_map(tmp_path / name)
    with pytest.raises(BpeError, match="Could not read the map"):
        read_id_map(tmp_path / "none.npz")


def test_the_python_example_of_the_manual_resizes_embeddings_by_an_id_map(
    table: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "resources" / "manual" / "ask.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "idmap.npz" in block]
    (lines,) = [block for block in blocks if "torch" not in block]
    assert all(len([line for line in block.splitlines() if line]) <= 10 for block in blocks)
    assert len(blocks) == 2
    new = trim(extend_table(table), table.numbers_of([260, 280]).tolist(), needed="lose").history
    id_map = IdMap.of(table, new)
    write_id_map(id_map, tmp_path / "idmap.npz")
    monkeypatch.chdir(tmp_path)
    matrix = np.random.default_rng(7).normal(size=(2 * table.index_count + 5, 6)).astype(np.float32)
    known = {"matrix": matrix}
    exec(lines, known)  # noqa: S102 - the lines are ours
    resized = known["resized"]
    assert resized.dtype == matrix.dtype
    assert len(resized) == id_map.new.max() + 1
    rows = id_map.table().records()
    assert np.array_equal(resized[id_map.new[id_map.kept]], matrix[id_map.old[id_map.kept]])
    fresh = [row for row in rows if row["old"] is None]
    assert len(fresh) > 10
    for row in fresh:
        assert resized[row["new"]] == pytest.approx(matrix[list(row["parts"])].mean(axis=0), abs=1e-6)
    kept = {row["old"] for row in rows if row["new"] is not None}
    gone = {row["old"] for row in rows if row["new"] is None}
    # The new matrix has every old row, or the map says that the token is gone.
    assert kept | gone == {None, *final_numbers(table)}


def test_the_idmap_command_writes_and_checks_an_id_map(
    table: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, id_map = (str(tmp_path / name) for name in ("old.csv", "new.csv", "map.npz"))
    write_history(table, old)
    write_history(extend_table(table), new)
    assert run(["idmap", old, new, "-o", id_map]) == 0
    assert f"Wrote {table.index_count + 20:,} rows" in capsys.readouterr().out
    assert run(["idmap", old, new, "--check", id_map, "--json"]) == 0
    assert f'"sentences": ["{id_map} is the map of these tables.'.replace("\\", "\\\\") in capsys.readouterr().out
    assert run(["idmap", old, old, "--check", id_map]) == 3
    assert "is a map of other tables: the new id" in capsys.readouterr().out
    assert run(["idmap", old, new, "-o", str(tmp_path / "map.svg")]) == 0
    assert "new, 2 parts" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert run(["idmap", old]) == 1
    assert "needs 2 tokenizers" in capsys.readouterr().err
