"""The parts of a tokenizer.json that a table does not contain: special tokens around a text, truncation and padding.

They are copied from the old file to the new file. Tokens in them get their new names and ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bpe_core.delivery.sidecars import TokenChange
from bpe_core.errors import FormatError
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.history.token_texts import quoted

AROUND = "post_processor"
PADDING = "padding"
TRUNCATION = "truncation"
PARTS = (AROUND, PADDING, TRUNCATION)
ENDS = ("sep", "cls")  # a text and its id


class _RemovedTokenError(Exception):
    """An error for a part of the file that needs a removed token."""


def with_kept_parts(before: bytes, now: bytes, name: str, change: TokenChange, notes: list[str]) -> bytes:
    """Return the new file with the parts that are copied from the old file, such as the padding.

    The new file was made from a table, which does not contain these parts. `before` is the content of the old file, and
    `now` is the content of the new file. `name` is the name of the old file in messages. If a part needs a token that
    no longer exists, a sentence about the loss is added to `notes`.
    """
    try:
        whole = parsed_object(before, name, counts_last=True)
    except FormatError:
        return now
    for key in PARTS:
        part = whole.get(key)
        if not isinstance(part, dict):
            continue
        try:
            taken = dict[str, None]()
            kept = _padding(part, change) if key == PADDING else _processor(part, change, taken)
            notes += [f"{name} added {text} to texts by its {key}, but this token no longer exists." for text in taken]
        except _RemovedTokenError as gone:
            notes.append(f"The {key} of {name} used {gone}, but this token no longer exists. The {key} is left out.")
            continue
        laid = json.dumps(kept, ensure_ascii=False, indent=2).replace("\n", "\n  ")
        now = now.replace(f'\n  "{key}": null'.encode(), f'\n  "{key}": {laid}'.encode(), 1)
    return now


def ids_around(path: Path) -> tuple[list[int], list[int]] | None:
    """Return the ids that a tokenizer.json puts before a text, and the ids that it puts after it. Return None if the
    file does not define such ids.

    >>> ids_around(Path("merges.txt"))
    """
    if path.suffix != ".json":
        return None
    processor = parsed_object(path.read_bytes(), path.name, counts_last=True).get(AROUND)
    for part in _all_processors(processor):
        if isinstance(part.get("single"), list):
            ids = _ids_of_specials(part)
            texts = [number for number, item in enumerate(part["single"]) if not _name_in(item)]
            if texts:
                before, behind = part["single"][: texts[0]], part["single"][texts[0] + 1 :]
                return [id for item in before for id in ids(item)], [id for item in behind for id in ids(item)]
        ends = [pair[1] for pair in map(part.get, ("cls", "sep")) if isinstance(pair, list) and len(pair) == len(ENDS)]
        if len(ends) == len(ENDS) and all(isinstance(id, int) for id in ends):
            return [ends[0]], [ends[1]]
    return None


def _all_processors(processor: Any) -> Iterator[Object]:
    if isinstance(processor, dict):
        yield processor
        for inner in processor.get("processors") or []:
            yield from _all_processors(inner)


def _ids_of_specials(part: Object) -> Callable[[Any], list[int]]:
    named = part.get("special_tokens")

    def ids(item: Any) -> list[int]:
        entry = named.get(_name_in(item)) if isinstance(named, dict) else None
        listed = entry.get("ids") if isinstance(entry, dict) else None
        return [id for id in listed if isinstance(id, int)] if isinstance(listed, list) else []

    return ids


def _padding(part: Object, change: TokenChange) -> Object:
    text, id = _token(part.get("pad_token"), part.get("pad_id"), change)
    return {**part, "pad_token": text, "pad_id": id}


def _processor(part: Object, change: TokenChange, taken: dict[str, None]) -> Object:
    """Return the post-processor with new names and ids.

    If a template contains a removed token, the token is left out of the template and added to `taken`.
    """
    processor = dict(part)
    if isinstance(part.get("processors"), list):
        processor["processors"] = [
            _processor(item, change, taken) if isinstance(item, dict) else item for item in processor["processors"]
        ]
    for key in ENDS:
        pair = part.get(key)
        if isinstance(pair, list) and len(pair) == 2:
            processor[key] = [*_token(pair[0], pair[1], change)]
    for key in ("single", "pair"):
        if isinstance(part.get(key), list):
            pieces = [(_name_in(item), item) for item in part[key]]
            taken |= {quoted(name): None for name, _ in pieces if change.is_removed(name)}
            processor[key] = [_piece(item, change) for name, item in pieces if not change.is_removed(name)]
    if isinstance(part.get("special_tokens"), dict):
        processor["special_tokens"] = {
            change.text(name): _named(item, change)
            for name, item in part["special_tokens"].items()
            if not change.is_removed(name)
        }
    return processor


def _name_in(item: Any) -> str:
    """Return the special token in an item of a template.

    Return an empty string if the item stands for the user's text.
    """
    special = item.get("SpecialToken") if isinstance(item, dict) else None
    name = special.get("id") if isinstance(special, dict) else None
    return name if isinstance(name, str) else ""


def _piece(item: Any, change: TokenChange) -> Any:
    """Return an item of a template. If the item is a special token, it gets the new name of this token."""
    name = _name_in(item)
    return {**item, "SpecialToken": {**item["SpecialToken"], "id": change.text(name)}} if name else item


def _named(item: Any, change: TokenChange) -> Any:
    if not isinstance(item, dict) or not isinstance(item.get("tokens"), list) or not isinstance(item.get("ids"), list):
        return item
    pairs = [_token(text, id, change) for text, id in zip(item["tokens"], item["ids"], strict=False)]
    texts = [text for text, _ in pairs]
    ids = [id for _, id in pairs]
    return {**item, "id": change.text(item.get("id", "")), "ids": ids, "tokens": texts}


def _token(text: Any, id: Any, change: TokenChange) -> tuple[Any, Any]:
    """Return the new text and the new id of a token. If the table never had the token, nothing changes.

    Raise _RemovedTokenError if the token was removed from the table.
    """
    if not isinstance(text, str):
        return text, id
    if change.is_removed(text):
        raise _RemovedTokenError(quoted(text))
    now = change.id_of(change.text(text))
    return change.text(text), id if now is None else now
