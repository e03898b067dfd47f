"""The texts of the corpus as arguments of a command: by their files; a text that is in none is written beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.session.corpus_texts import CorpusText
from bpe_core.atomic import write_atomically

IN_NO_FILE = "the text {} is only an address, so tomorrow it may be another one; save it as a file and open that."
READ_SO = (
    "the text {} is read in a way of its own (an encoding, a column, some files of a folder), which no command is told "
    "of one text; save it as a plain file and open that."
)
TWO_ALIKE = "two texts are called {}, so nobody could tell their rows apart; rename a file, or put both into groups."
SOME_IN_GROUPS = "some texts are in groups and some are in none, which no command can be told; put all into groups."


class TextsBeside:
    """Nothing is written before `write`."""

    def __init__(self, texts: Sequence[CorpusText], beside: Path) -> None:
        """Of texts in no file, the places are named after the file that they stand `beside`."""
        self._texts = texts
        self._place = {
            one.number: beside.absolute().with_name(f"{beside.name}.text-{count}.txt")
            for count, one in enumerate(texts, 1)
            if one.path is None
        }

    def refusal(self, *, each: bool) -> str:
        """Why they cannot be named, if they cannot; `each` by itself or together."""
        for one in self._texts:
            if one.address or one.refused:
                return IN_NO_FILE.format(one.name)
            if one.picked or one.encoding or one.column or one.word_list is not None:
                return READ_SO.format(one.name)
        if len({bool(one.group) for one in self._texts}) > 1:
            return SOME_IN_GROUPS
        names = [one.name for one in self._texts]
        twice = next((name for name in names if names.count(name) > 1), None)
        return TWO_ALIKE.format(twice) if each and twice is not None and not self._are_grouped else ""

    def named(self, argument: str = "") -> list[str]:
        """All of them, behind the argument that wants them; or their groups."""
        if not self._are_grouped:
            return [*filter(None, [argument]), *(str(self._path(one)) for one in self._texts)]
        groups: dict[str, list[str]] = {}
        for one in self._texts:
            groups.setdefault(one.group, []).append(str(self._path(one)))
        return [word for name, paths in groups.items() for word in ("--group", name, *paths)]

    def each(self) -> list[str]:
        """Each as a group, or their groups."""
        if self._are_grouped:
            return self.named()
        return [word for one in self._texts for word in ("--group", one.name, str(self._path(one)))]

    def write(self) -> list[Path]:
        """Those that are in no file; where they are now."""
        for one in self._texts:
            if one.number in self._place:
                with write_atomically(self._place[one.number]) as file:
                    file.write(one.text.encode(errors="replace"))
        return list(self._place.values())

    @property
    def _are_grouped(self) -> bool:
        return any(one.group for one in self._texts)

    def _path(self, one: CorpusText) -> Path:
        return self._place[one.number] if one.path is None else one.path.absolute()
