"""Tests of Qt's document and the text model. After any edit, both contain the same text, and all views show it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextDocumentLayout

from app.window.text.text_model import TextChange, TokenTextModel
from app.window.text.view.document import TokenDocument
from tests.gui.text.test_text_model import make_chunks_short

CHARACTERS = "ab z  \n\n\r\t\x00\u0301\u200d\u2028\u2029\ufdd0\ufffcé日שa😀\U000e0041"
texts = st.text(st.sampled_from(CHARACTERS), max_size=40)
typed = st.text(st.sampled_from("ab \n\té日ש😀\u0301"), max_size=6)  # what reaches a document by keys
places = st.tuples(st.integers(0, 90), st.integers(0, 9))


@contextmanager
def documents(text: str) -> Iterator[list[TokenDocument]]:
    """Return two documents with the same text model. Lines are broken after a few characters."""
    with pytest.MonkeyPatch.context() as patch:
        make_chunks_short(patch)
        model, owner = TokenTextModel(text), QObject()
        both = [TokenDocument(model, owner) for _ in range(2)]
        for document in both:
            document.setDocumentLayout(QPlainTextDocumentLayout(document))
        yield both


def check(document: TokenDocument, text: str) -> None:
    chunks = document.model.chunks
    assert document.model.text() == text
    assert document.blockCount() == len(chunks)
    assert document.characterCount() == chunks.unit_length
    block = document.firstBlock()
    for chunk in chunks:
        shown = block.text()
        for written, seen in zip(chunk.removesuffix("\n"), _by_character(chunk, shown), strict=True):
            assert seen in (written, "\u00a0" if written == " " else "\ufffc" * len(seen))
        block = block.next()


def _by_character(chunk: str, shown: str) -> list[str]:
    """Return the text that the window shows for each character in a chunk."""
    parts, units = [], shown.encode("utf-16-le")
    for character in chunk.removesuffix("\n"):
        size = len(character.encode("utf-16-le"))
        parts.append(units[:size].decode("utf-16-le"))
        units = units[size:]
    assert not units
    return parts


@given(texts, st.lists(st.tuples(st.booleans(), places, typed), max_size=6))
def test_edits_made_by_qt_reach_the_text_model_and_other_views(
    text: str, edits: list[tuple[bool, tuple[int, int], str]]
) -> None:
    with documents(text) as (first, second):
        changes: list[TextChange] = []
        first.model.text_changed.connect(changes.append)
        for is_other, (start, length), added in edits:
            document = second if is_other else first
            start = min(start, len(text))
            stop = min(start + length, len(text))
            cursor = QTextCursor(document)
            cursor.setPosition(document.position_of(start))
            cursor.setPosition(document.position_of(stop), QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(added)
            text = text[:start] + added + text[stop:]
            check(first, text)
            check(second, text)
            assert document.character_of(cursor.position()) == start + len(added), "the caret is behind what was typed"


@given(texts, st.lists(st.tuples(places, texts), max_size=6))
def test_editing_the_text_model_updates_every_document_that_shows_it(
    text: str, edits: list[tuple[tuple[int, int], str]]
) -> None:
    with documents(text) as (first, second):
        before = [text]
        for (start, length), added in edits:
            start = min(start, len(text))
            stop = min(start + length, len(text))
            first.model.replace(start, stop, added)
            if added != text[start:stop]:
                text = text[:start] + added + text[stop:]
                before.append(text)
            check(first, text)
            check(second, text)
        for expected in before[-2::-1]:
            first.model.undo.undo()
            check(first, expected)
            check(second, expected)


@given(texts, st.integers(0, 90))
def test_text_offsets_and_document_positions_can_be_converted_in_both_directions(text: str, place: int) -> None:
    with documents(text) as (document, _):
        place = min(place, len(text))
        position = document.position_of(place)
        assert document.character_of(position) == place
        assert 0 <= position < document.characterCount()
        positions = [document.position_of(character) for character in range(len(text) + 1)]
        assert positions == sorted(set(positions))


@given(texts, st.integers(0, 90), st.booleans())
def test_a_block_break_that_is_not_in_the_text_cannot_be_deleted(text: str, place: int, is_joined: bool) -> None:
    with documents(text) as (document, _):
        breaks = [p for p in range(document.characterCount() - 1) if document.breaks_line_at(p)]
        if not breaks:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(breaks[place % len(breaks)])
        cursor.deleteChar()
        check(document, text)
