"""The parts of a tokenizer.json that are not in a table: special tokens around a text, truncation and padding.

They are copied from the old file to the new file. Tokens in them get their new names and ids.
"""

from __future__ import annotations

import json
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


class _GoneError(Exception):
    """An error that is raised if a part of the file needs a token that was removed."""


def with_parts_of(before: bytes, now: bytes, name: str, change: TokenChange, notes: list[str]) -> bytes:
    """Return the new file with the parts of the old file that are not in a table.

    A sentence about each part that is lost is added to `notes`.
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
        except _GoneError as gone:
            notes.append(f"{name} used {gone} in its {key}, which no longer exists. This part is left out.")
            continue
        laid = json.dumps(kept, ensure_ascii=False, indent=2).replace("\n", "\n  ")
        now = now.replace(f'\n  "{key}": null'.encode(), f'\n  "{key}": {laid}'.encode(), 1)
    return now


def _padding(part: Object, change: TokenChange) -> Object:
    text, id = _token(part.get("pad_token"), part.get("pad_id"), change)
    return {**part, "pad_token": text, "pad_id": id}


def _processor(part: Object, change: TokenChange, taken: dict[str, None]) -> Object:
    """Return the post-processor with the new names and ids.

    A removed token is left out of templates and added to `taken`.
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
            taken |= {quoted(name): None for name, _ in pieces if change.is_gone(name)}
            processor[key] = [_piece(item, change) for name, item in pieces if not change.is_gone(name)]
    if isinstance(part.get("special_tokens"), dict):
        processor["special_tokens"] = {
            change.text(name): _named(item, change)
            for name, item in part["special_tokens"].items()
            if not change.is_gone(name)
        }
    return processor


def _name_in(item: Any) -> str:
    """Return the special token in an item of a template.

    Return an empty text for the item that stands for the user's text.
    """
    special = item.get("SpecialToken") if isinstance(item, dict) else None
    name = special.get("id") if isinstance(special, dict) else None
    return name if isinstance(name, str) else ""


def _piece(item: Any, change: TokenChange) -> Any:
    """Return an item of a template in which the token has its new name."""
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
    """Return the new text and id of a token. A token that the table never had is returned unchanged."""
    if not isinstance(text, str):
        return text, id
    if change.is_gone(text):
        raise _GoneError(quoted(text))
    now = change.id_of(change.text(text))
    return change.text(text), id if now is None else now
