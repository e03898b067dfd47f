"""What notebooks and data frames are given, and figures drawn without a command."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow
import pytest

import bpe_core as bpe
from bpe_core import tables
from bpe_core.report.notebook import SAMPLE
from tests.shared import text_of


class Spans(HTMLParser):
    """The texts of all tokens; and how deep elements are still open."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.texts += [""] if tag == "span" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "span":
            self.texts[-1] += data


def test_a_tokenizer_and_texts_from_question_to_figure(tmp_path: Path) -> None:
    text = text_of("poem")
    history = bpe.train(bpe.Corpus.from_texts([text]), bpe.Recipe.preset("gpt2", merges=60))
    found = {
        "sweep": bpe.overlay({"ours": history}, text.splitlines(keepends=True)),
        "sizes": tables.sizes(history, {"poem": text, "low": ["low", "lower"]}),
        "ranks": tables.ranks(bpe.Tokenizer(history), text, at=30),
        "race": tables.race(history, text),
        "ties": tables.ties(history),
        "steps": tables.steps(history),
        "bits": tables.bits(history, text),
        "compression": tables.compression(history),
        "lengths": tables.lengths(history, at=30),
        "pairs": tables.pairs(history, text, at=30),
        "tree": tables.tree(history, " rowing"),
        "why": tables.why(history, "rowing", at=30),
        "life": tables.life(history, text, history.id_count - 1),
        "paid": tables.paid(history, text, 60),
        "differing": tables.differing(history, history.first(30)),
        "audit": tables.audit(history, {"poem": text, "low": "low"}),
        "morphemes": bpe.morpheme_agreement({"ours": history}, {"en": {"rowing": ["row", "ing"]}}).table,
    }
    for name, table in found.items():
        assert len(pyarrow.table(dict(table.columns))) == len(table) > 0, name
    for chart in ("sweep", "sizes", "ranks", "race", "compression", "lengths", "pairs", "tree"):
        bpe.draw(chart, found[chart], tmp_path / f"{chart}.svg")
        drawn = (tmp_path / f"{chart}.svg").read_bytes()
        assert b"<polyline" in drawn or b'class="bar"' in drawn or b'class="token"' in drawn, chart
    assert found["paid"].columns["count"][0] > 0
    assert sum(found["paid"].columns["count"]) == history[59].count == found["life"].columns["count"][-1]
    assert sum(found["ranks"].columns["count"]) == len(bpe.Tokenizer(history).encode(text, at=30))
    one_text = bpe.overlay({"ours": bpe.Tokenizer(history)}, text, sizes=np.array([270]))
    assert [*one_text.columns["tokens"]] == [len(bpe.Tokenizer(history).encode(text, at=270 - 256))]
    bpe.write_history(history, tmp_path / "own.tokenizer.json")
    opened = bpe.open_table(tmp_path / "own.tokenizer.json")
    both = bpe.benchmark({"ours": history, "theirs": opened}, {"poem": text.splitlines(keepends=True)})
    bpe.write_data(both, tmp_path / "both.csv")
    assert len({*both.columns["tokens"]}) == 1
    for mistake in (
        lambda: bpe.benchmark({"ours": "own.csv"}, {"poem": text}),  # type: ignore[dict-item]
        lambda: bpe.benchmark(history, text),  # type: ignore[arg-type]
        lambda: bpe.train([text], history.recipe),  # type: ignore[arg-type]
        lambda: bpe.draw("race", found["sizes"], tmp_path / "x.svg"),
        lambda: bpe.draw("ranks", found["ranks"], tmp_path / "x.svg", measure="tokens"),
        lambda: bpe.write_data({"a": [1]}, tmp_path / "x.csv"),  # type: ignore[arg-type]
        lambda: tables.life(history, text, "no such token"),
    ):
        with pytest.raises(bpe.BpeError):
            mistake()
    for wrong in (("what", "x.svg"), ("ranks", "x.png")):
        with pytest.raises(bpe.OutputError):
            bpe.draw(wrong[0], found["ranks"], tmp_path / wrong[1])
    with pytest.raises(bpe.BpeError, match="no step 61"):
        tables.race(history, text, [61])

    tokenizer, shown = bpe.Tokenizer(history), Spans()
    shown.feed(tokenizer._repr_html_())
    assert shown.open == []
    data = SAMPLE.encode()
    whole = [data[start:stop] for start, stop, _ in tokenizer.spans(SAMPLE)]
    assert [told for told in shown.texts if "<0x" not in told] == [one.decode() for one in whole if one.isascii()]
    shown = Spans()
    shown.feed(history._repr_html_())
    assert shown.open == []
    assert "60 merges" in history._repr_html_()
    assert "0 merges" in history.first(0)._repr_html_()
