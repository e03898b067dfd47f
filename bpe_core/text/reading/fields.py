"""Which field of a row holds its text: `text`, `doc.body`, or `messages[].content` for one text an item.

>>> steps_of("messages[].content")
('messages', None, 'content')
>>> guessed(("id", "Body")), guessed(("title", "summary"))
('Body', '')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpe_core.errors import CorpusError
from bpe_core.text.reading.rows import listed

USUAL_NAMES = ("text", "content", "body", "document")
DEEPEST = 8  # levels of a row that are looked through for texts

Steps = tuple[str | None, ...]  # the names on the way; None goes to each item of a list


class FieldNeeded(CorpusError):
    """A table whose texts might be in one field or in another; only a person knows."""

    def __init__(self, sentence: str, fields: Sequence[str]) -> None:
        super().__init__(sentence)
        self.fields = tuple(fields)


def steps_of(field: str) -> Steps:
    """The way from a row to its text."""
    steps: list[str | None] = []
    for name in field.split("."):
        bare = name
        while bare.endswith("[]"):
            bare = bare[:-2]
        steps += [bare] if bare else []
        steps += [None] * ((len(name) - len(bare)) // 2)
    return tuple(steps)


def guessed(fields: Sequence[str]) -> str:
    """The field that is called what such fields are called, else the only one, else none."""
    for usual in USUAL_NAMES:
        for field in fields:
            if field.casefold() == usual:
                return field
    return fields[0] if len(fields) == 1 else ""


def chosen(wanted: str | None, fields: Sequence[str], name: str) -> str:
    """The field that a person named, whether or not it exists, else the guessed one, else a refusal."""
    field = wanted or guessed(fields)
    if field:
        return field
    if not fields:
        raise FieldNeeded(f"{name} has no column that holds text.", ())
    raise FieldNeeded(
        f"{name} has several columns that could hold its texts: {listed(fields)}. Choose one of them.",
        fields,
    )


def text_fields(row: object, depth: int = DEEPEST) -> Iterator[str]:
    """The ways to all texts in a row of JSON.

    >>> list(text_fields({"id": 1, "doc": {"body": "low"}, "turns": [{"content": "new"}]}))
    ['doc.body', 'turns[].content']
    """
    if isinstance(row, dict) and depth:
        for name, value in row.items():
            for rest in _inside(value, depth - 1):
                yield f"{name}{rest}"


def _inside(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield ""
    elif isinstance(value, dict):
        yield from (f".{rest}" for rest in text_fields(value, depth))
    elif isinstance(value, list) and value and depth:
        yield from (f"[]{rest}" for rest in _inside(value[0], depth - 1))
