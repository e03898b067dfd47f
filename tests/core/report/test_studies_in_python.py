"""Tests of results in notebooks and data frames, and of figures drawn from Python."""

from __future__ import annotations

from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.figures.coloured_text import SAMPLE
from tests.shared import text_of

STUDY = bpe.train([text_of("poem")], "gpt2", merges=60)


class Spans(HTMLParser):
    """A parser that collects the texts of all tokens and the tags of the elements that are still open."""

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


def test_a_study_answers_questions_with_tables_and_figures(tmp_path: Path) -> None:
    text = text_of("poem")
    study = bpe.train([text], "gpt2", merges=60)
    history = study.history
    both = {"ours": study, "earlier": study.at(30)}
    lines = study.with_texts(text.splitlines(keepends=True))
    answers = {
        "curves": bpe.curves({"ours": lines}),
        "sizes": bpe.sizes({"ours": study.with_texts({"poem": text, "low": ["low", "lower"]})}, each=True),
        "ranks": bpe.ranks(study, at=30),
        "race": bpe.race(study),
        "ties": bpe.ties(study),
        "steps": bpe.steps(study),
        "compression": bpe.compression(study),
        "lengths": bpe.lengths(study, at=30),
        "pairs": bpe.pairs(study, at=30),
        "tree": bpe.tree(study, text=" rowing"),
        "why": bpe.why(study, text="rowing", at=30),
        "token": bpe.token(study, token=f"#{history.index_count - 1}"),
        "paid": bpe.paid(study, step=60),
        "diff": bpe.ask(both, "diff"),
        "audit": bpe.audit(study.with_texts({"poem": text, "low": "low"})),
        "morphemes": bpe.morphemes(both),
        "lab": bpe.lab(both),
        "benchmark": bpe.benchmark({"ours": study}, texts={"poem": text, "low": ["low"]}),
    }
    for name, answer in answers.items():
        assert len(pyarrow.table(dict(answer.columns))) == len(answer.table) > 0, name
        if answer.figure is not None:
            drawn = bpe.draw(answer, tmp_path / f"{name}.svg")
            assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8") == drawn
            assert any(part in drawn for part in ("<polyline", 'class="bar"', 'class="token"', 'class="dot"')), name
    assert {name for name, answer in answers.items() if answer.figure is None} == {
        *("ties", "why", "paid", "diff", "audit"),
    }
    assert sum(answers["paid"].columns["count"]) == history[59].count == answers["token"].columns["count"][-1]
    assert sum(answers["ranks"].columns["count"]) == len(study.encode(text, at=30))


def test_former_names_in_python_still_work_and_wrong_calls_raise_an_error(tmp_path: Path) -> None:
    text = text_of("poem")
    study = bpe.train(bpe.Corpus.from_texts([text]), "gpt2", merges=40)
    path = tmp_path / "own.tokenizer.json"
    former: Any = bpe  # type checkers know only the present names
    former.write_history(former.Tokenizer(study.history), path)
    opened = bpe.open(path)
    assert former.Tokenizer(former.open_table(path)).encode("rowing") == opened.encode("rowing")
    assert opened.encode(b"rowing") == study.encode("rowing")
    assert former.tables.ties(study).columns["step"] == bpe.ties(study).columns["step"]
    study.save(tmp_path / "study.csv")
    assert repr(bpe.open(tmp_path / "study.csv")).endswith(
        "study.csv', method='bpe', recipe='gpt2', vocab_size=296, steps=40)"
    )
    for mistake in (
        lambda: former.benchmark({"ours": "own.csv"}, texts=text),
        lambda: former.benchmark(study, texts=text),
        lambda: bpe.train(5),
        lambda: bpe.train([text], 5),  # type: ignore[arg-type]
        lambda: bpe.draw("race", tmp_path / "x.svg"),
        lambda: bpe.draw(bpe.race(study), tmp_path / "x.png"),
        lambda: bpe.draw(bpe.ties(study)),
        lambda: bpe.write_data({"a": [1]}, tmp_path / "x.csv"),  # type: ignore[arg-type]
        lambda: bpe.token(study, token="no such token"),
        lambda: former.token(study),
        lambda: former.race(study, what=1),
        lambda: bpe.race(study, steps=[61]),
        lambda: bpe.paid(study.at(0), step=1),
        lambda: study.encode(b"\xff"),
        lambda: study.encode(5),  # type: ignore[call-overload]
        lambda: bpe.ask(study, "no such question"),
    ):
        with pytest.raises(bpe.BpeError):
            mistake()
    with pytest.raises(AttributeError):
        former.no_such_name  # noqa: B018


def test_a_notebook_shows_a_sample_sentence_divided_into_tokens() -> None:
    study, shown = bpe.train([text_of("poem")], "gpt2", merges=60), Spans()
    shown.feed(study._repr_html_())
    assert shown.open == []
    data = SAMPLE.encode()
    whole = [data[start:stop] for start, stop, _ in study.inside.by_index.tokenizer.spans(SAMPLE)]
    assert [shown_text for shown_text in shown.texts if "<0x" not in shown_text] == [
        token.decode() for token in whole if token.isascii()
    ]


@given(st.text(max_size=30))
def test_spans_of_a_study_cover_the_text_in_characters_and_bytes(text: str) -> None:
    spans, data = STUDY.spans(text), text.encode()
    assert [span.id for span in spans] == STUDY.encode(text)
    assert b"".join(data[span.first_byte : span.end_byte] for span in spans) == data
    for span in spans:
        covered = text[span.start : span.stop].encode()
        assert data[span.first_byte : span.end_byte] in covered
        assert len(covered) - (span.end_byte - span.first_byte) < 8  # no more than the rest of two characters


def test_ids_of_an_opened_study_equal_the_ids_in_the_file(tmp_path: Path) -> None:
    table = tmp_path / "numbered.tiktoken"
    rows = [(bytes([byte]), (byte + 7) % 256) for byte in range(256)] + [(b"ro", 300), (b"row", 301)]
    lines = [f"{b64encode(token).decode()} {rank}\n" for token, rank in sorted(rows, key=lambda row: row[1])]
    table.write_text("".join(lines), encoding="utf-8")
    study = bpe.open(table)
    assert study.encode("rows") == [301, (ord("s") + 7) % 256]
    assert study.decode([301]) == "row"
    assert study.tokens[301] == b"row"
    assert [span.id for span in study.spans("rows")] == study.encode("rows")
    assert study.inside.columns([study.id_of("row")])["id"] == [301]
    with pytest.raises(bpe.FormatError, match="302"):
        study.decode([302])
