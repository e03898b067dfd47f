"""What notebooks and data frames are given, and figures drawn without a command."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

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
        "morphemes": bpe.morpheme_agreement({"ours": history}, {"en": {"rowing": ["row", "ing"]}}).table,
    }
    for name, table in found.items():
        assert len(pyarrow.table(dict(table.columns))) == len(table) > 0, name
    for chart in ("sweep", "sizes", "ranks", "race"):
        bpe.draw(chart, found[chart], tmp_path / f"{chart}.svg")
        assert b"<polyline" in (tmp_path / f"{chart}.svg").read_bytes()
    assert sum(found["ranks"].columns["count"]) == len(bpe.Tokenizer(history).encode(text, at=30))
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
