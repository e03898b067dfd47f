"""The Qt document that shows the text of a model, and passes a user's edits to the model.

The model owns the text. The document has a block for each chunk of the text. A line that is too long for Qt has
several chunks, so the document has a break where the text has no newline. Qt stores a format with each break, and the
format says whether the break is in the text. The document holds a substitute for each invisible character (see
`cells`). All text that is read, copied or learned comes from the model, so no such break or substitute gets into a
person's text.

An edit has one of two origins:

- Qt changes the document, for a key, an input method or a screen reader. The document compares the changed blocks with
  the former chunks, and passes the difference to the model. Then it corrects blocks that differ from the new chunks,
  such as a line that has become too long.
- The model changes: a user pastes or drops text here, edits it in another view, or undoes an edit. Then the blocks
  of the changed chunks are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat

from app.window.text.chunks import ChunksChange, utf16_length
from app.window.text.text_model import TextChange, TokenTextModel
from app.window.text.view.cells import shown_text

IN_LINE = "\u2029"  # a break that is not in the text; no block holds this character
_IS_IN_LINE = int(QTextFormat.Property.UserProperty.value)


class TokenDocument(QTextDocument):
    rewriting = Signal()  # before blocks are rewritten: what an input method composes in one must end
    text_shown = Signal(object, bool)  # a TextChange of the model, once the document shows it; whether Qt made it here

    def __init__(self, model: TokenTextModel, parent: QObject) -> None:
        super().__init__(parent)
        self.model = model
        self.all_invisible = False
        self.caret: Callable[[], int] = lambda: -1  # where a user types, if that is known
        self._is_correcting = False
        self._is_ending_edit = False
        self._edited: tuple[int, int] | None = None  # the chunks that an edit of its own touched, as they were before
        self._change: TextChange | None = None
        self.setUndoRedoEnabled(False)  # the session undoes edits
        self.setDocumentMargin(0)
        self.show_all()
        self.contentsChange.connect(self._take_edit)
        self.contentsChanged.connect(self._end_edit)
        model.text_changed.connect(self._follow_text)

    # -- positions -------------------------------------------------------------------------

    def position_of(self, character: int) -> int:
        return self.model.chunks.unit_of(character)

    def character_of(self, position: int) -> int:
        return self.model.chunks.character_of_unit(position)

    def breaks_line_at(self, position: int) -> bool:
        """Return whether the document has a break at a position where the text has no newline."""
        following = self.findBlock(position + 1)
        return following.position() == position + 1 and _continues_line(following)

    @property
    def is_edited(self) -> bool:
        """Return whether Qt is making an edit at this moment."""
        return self._edited is not None

    # -- what the document shows -----------------------------------------------------------

    def show_all(self) -> None:
        """Write the whole text into the document again."""
        with self._correcting():
            self.rewriting.emit()
            self.clear()
            cursor = QTextCursor(self)
            cursor.beginEditBlock()
            self._insert(cursor, self._wanted(0, len(self.model.chunks)))
            cursor.endEditBlock()

    def _follow_text(self, change: TextChange) -> None:
        if self._edited is not None:
            self._change = change  # taken when Qt has finished its own edit
        elif change.is_whole:
            self.show_all()
            self.text_shown.emit(change, False)
        else:
            self._correct(change.chunks)
            self.text_shown.emit(change, False)

    def _correct(self, change: ChunksChange) -> None:
        """Update the text of the document, but only in the blocks of changed chunks."""
        before = len(self.model.chunks) - change.added + change.removed
        last = change.first + change.removed + self.blockCount() - before
        shown = self._blocks(change.first, last)
        wanted = self._wanted(change.first, change.first + change.added)
        if shown == wanted:
            return
        head, old, new = _difference(shown, wanted)
        start = self.findBlockByNumber(change.first).position() + utf16_length(head)
        with self._correcting():
            self.rewriting.emit()
            if self._is_ending_edit:
                self._correct_in_place(start, old, new)
            else:
                self._rewrite(start, old, new)

    def _rewrite(self, position: int, old: str, new: str) -> None:
        cursor = QTextCursor(self)
        cursor.setPosition(position)
        cursor.setPosition(position + utf16_length(old), QTextCursor.MoveMode.KeepAnchor)
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        self._insert(cursor, new)
        cursor.endEditBlock()

    def _insert(self, cursor: QTextCursor, text: str) -> None:
        plain = QTextCharFormat()
        in_line = QTextCharFormat()
        in_line.setProperty(_IS_IN_LINE, True)
        for number, part in enumerate(text.split(IN_LINE)):
            if number:
                cursor.insertBlock(QTextBlockFormat(), in_line)
            cursor.insertText(part, plain)

    def _correct_in_place(self, position: int, old: str, new: str) -> None:
        """Replace the shown text `old`, which begins at `position`, by `new`, one character at a time.

        `old` and `new` represent the same text. They may differ in the line breaks that only the display has, and in
        the substitutes for invisible characters. Each text cursor stays before the same character.
        """
        cursor = QTextCursor(self)
        cursor.beginEditBlock()
        for removed, added in _character_pairs(old, new):
            size = utf16_length(removed)
            if removed != added:
                cursor.setPosition(position + size)
                self._insert(cursor, added)
                cursor.setPosition(position)
                cursor.setPosition(position + size, QTextCursor.MoveMode.KeepAnchor)
                cursor.removeSelectedText()
            position += utf16_length(added)
        cursor.endEditBlock()

    def _blocks(self, first: int, stop: int) -> str:
        """Return the content of the blocks from `first` to `stop`, with the breaks between them."""
        block = self.findBlockByNumber(first)
        parts = list[str]()
        for number in range(first, stop):
            if number > first:
                parts.append(IN_LINE if _continues_line(block) else "\n")
            parts.append(block.text())
            block = block.next()
        return "".join(parts)

    def _wanted(self, first: int, stop: int) -> str:
        """Return the content that the blocks of the chunks from `first` to `stop` should have."""
        chunks = self.model.chunks
        parts = list[str]()
        for index in range(first, stop):
            chunk = chunks[index]
            parts.append(shown_text(chunk.removesuffix("\n"), all_invisible=self.all_invisible))
            if index < stop - 1:
                parts.append("\n" if chunk.endswith("\n") else IN_LINE)
        return "".join(parts)

    @contextmanager
    def _correcting(self) -> Iterator[None]:
        before = self._is_correcting
        self._is_correcting = True
        try:
            yield
        finally:
            self._is_correcting = before

    # -- edits of its own ------------------------------------------------------------------

    def _take_edit(self, position: int, removed: int, added: int) -> None:
        """Pass an edit of Qt to the model, before anything is laid out.

        Qt may report more than has changed. It reports the whole block for an input method, and the whole
        document for a new layout.
        """
        if self._is_correcting:
            return
        chunks = self.model.chunks
        old_stop = min(position + removed, chunks.unit_length - 1)
        first = chunks.chunk_at_unit(position)
        last = chunks.chunk_at_unit(old_stop)
        start = chunks.unit_start_of(first)
        grown = self.characterCount() - chunks.unit_length
        blocks = last + 1 + self.blockCount() - len(chunks)
        shown = self._blocks(first, blocks)
        new_stop = old_stop + grown
        old = _units(self._wanted(first, last + 1), position - start, old_stop - start)
        new = _units(shown, position - start, new_stop - start)
        behind = None
        caret = self.caret()
        if position <= caret <= new_stop:  # typed text ends at the caret, even if the text after it is equal
            behind = len(_units(shown, caret - start, new_stop - start))
        head, gone, come = _difference(old, new, behind)
        if not gone and not come:  # an input method composes
            return
        here = position + utf16_length(head)
        self._edited = first, last + 1
        begin = chunks.character_of_unit(here)
        end = chunks.character_of_unit(here + utf16_length(gone))
        self.model.replace(begin, end, come.replace(IN_LINE, ""), joins=True)

    def _end_edit(self) -> None:
        if self._is_correcting or self._edited is None:
            return
        (first, stop) = self._edited
        change = self._change
        self._edited = self._change = None
        # No change: a break within a line was deleted.
        chunks = ChunksChange(first, 0, 0) if change is None else change.chunks
        first = min(first, chunks.first)
        stop = max(stop, chunks.first + chunks.removed)
        self._is_ending_edit = True
        self._correct(ChunksChange(first, stop - first, stop - first + chunks.added - chunks.removed))
        self._is_ending_edit = False
        if change is not None:
            self.text_shown.emit(change, True)


def _continues_line(block: QTextBlock) -> bool:
    """Return whether a block continues the line of the block before it, because the text has no newline there."""
    return block.charFormat().hasProperty(_IS_IN_LINE)


def _units(text: str, start: int, stop: int) -> str:
    """Return the part of a text between two offsets that are counted in UTF-16 units.

    >>> _units("a😀bc", 1, 4)
    '😀b'
    """
    if text.isascii():
        return text[start:stop]
    return text.encode("utf-16-le")[2 * start : 2 * stop].decode("utf-16-le", "replace")


def _difference(old: str, new: str, behind: int | None = None) -> tuple[str, str, str]:
    """Return the common beginning of two texts, and the part of each text between this beginning and the common end.

    If `behind` is not None, then the common end has at most `behind` characters.

    >>> _difference("one two", "one, two")
    ('one', '', ',')
    >>> _difference("aa", "aaa", behind=2), _difference("aa", "aaa", behind=0)
    (('', '', 'a'), ('aa', '', 'a'))
    """
    tail = _common_length(old[::-1], new[::-1])
    if behind is not None:
        tail = min(tail, behind)
    old = old[: len(old) - tail]
    new = new[: len(new) - tail]
    head = _common_length(old, new)
    return old[:head], old[head:], new[head:]


def _character_pairs(old: str, new: str) -> Iterator[tuple[str, str]]:
    r"""Yield the pairs of characters at the same position in two display forms of one text.

    The forms differ only in line breaks that the display adds, and in substitutes for invisible characters. If
    only one form has such a line break, the break forms a pair with an empty string.

    >>> list(_character_pairs(f"ab{IN_LINE}", f"a{IN_LINE}b"))
    [('a', 'a'), ('', '\u2029'), ('b', 'b'), ('\u2029', '')]
    """
    here = there = 0
    while here < len(old) or there < len(new):
        removed = old[here : here + 1]
        added = new[there : there + 1]
        if removed != added and removed == IN_LINE:
            added = ""
        elif removed != added and added == IN_LINE:
            removed = ""
        elif removed > "\uffff" and added != removed:
            added = new[there : there + utf16_length(removed)]
        yield removed, added
        here += len(removed)
        there += len(added)


def _common_length(first: str, second: str) -> int:
    """Return the length of the common beginning of two texts."""
    known = 0
    most = min(len(first), len(second))
    while known < most:
        middle = (known + most + 1) // 2
        if first[known:middle] == second[known:middle]:
            known = middle
        else:
            most = middle - 1
    return known
