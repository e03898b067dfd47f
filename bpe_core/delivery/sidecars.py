"""The sidecar files of a tokenizer, which hold the roles of its tokens, chat templates and so on.

They are changed together with the tokenizer's table.

Transformers reads them from the folder of the tokenizer. When the table changes, only special tokens and ids in these
files become outdated. So a renamed token gets its new name in every file, each id is replaced by the new id of its
token, and removed tokens are left out. All other content stays. If nothing in a file changes, the file stays byte for
byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.editing.id_map_file import IN_FOLDERS
from bpe_core.errors import FormatError
from bpe_core.formats.all_formats import LARGEST_BESIDE
from bpe_core.formats.base import NO_NUMBER, own_numbers
from bpe_core.formats.hugging_face_cache import FILES, tokenizer_file
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.formats.merges_pair import MERGES_NAMES
from bpe_core.formats.transformers_files import ADDED, CONFIG, MAP, MODEL
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.support.wording import count_text

GENERATION = "generation_config.json"
TEMPLATES = ("chat_template.jinja", "chat_template.json", "additional_chat_templates/*.jinja")
AS_THEY_ARE = ("normalizer.json",)
OF_TOKENIZERS = (CONFIG, MAP, ADDED, GENERATION, *TEMPLATES, *AS_THEY_ARE)
# The files that transformers loads a tokenizer from.
LOADED = ("tokenizer.json", "merges.txt", "vocab.txt", "sentencepiece", "tekken", "tiktoken")
BELONGS = ("vocab.json", "encoder.json")  # the sidecar file of merges in the same folder
NAMED_TOKENS = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")
NUMBERED = "added_tokens_decoder"
DEEPEST = 100  # brackets around a value in a sidecar file
TEMPLATE = "chat_template"
_OF_IDS = re.compile(r"_token_ids?$|_token_index$|^(suppress|begin_suppress)_tokens$|^(lang|task)_to_id$|_words_ids$")
FORCED = "forced_decoder_ids"  # pairs of a key and an id
MOST_NAMED = 5


@dataclass(frozen=True)
class Sidecars:
    """The files next to a tokenizer that describe its tokens."""

    folder: Path
    main: str  # the file of the tokenizer
    files: Mapping[str, bytes] = field(default_factory=dict)  # contents by name
    others: tuple[str, ...] = ()  # other files from which a loader could read the same tokenizer
    strangers: tuple[str, ...] = ()  # the names of all further files

    def __bool__(self) -> bool:
        return bool(self.files)

    @cached_property
    def read(self) -> dict[str, Object]:
        """Return the content of each JSON file. Damaged files are left out."""
        content_of = {}
        for name in self.files:
            if name.endswith(".json") and name not in AS_THEY_ARE:
                try:
                    content_of[name] = parsed_object(self.files[name], name, deepest=DEEPEST)
                except FormatError:
                    continue
        return content_of

    @property
    def damaged(self) -> list[str]:
        return [name for name in self.files if name.endswith(".json") and name not in (*self.read, *AS_THEY_ARE)]

    @property
    def largest_id(self) -> int:
        """Return the largest id of a token in these files. Return -1 if they have no ids."""
        numbered = self.read.get(CONFIG, {}).get(NUMBERED)
        keys = [int(key) for key in numbered if key.isdecimal()] if isinstance(numbered, dict) else []
        return max([-1, *keys, *(id for id in self.read.get(ADDED, {}).values() if isinstance(id, int))])


def sidecars_of(table: Path | str, format: str) -> Sidecars:
    """Return the sidecar files of a tokenizer.

    `table` is the tokenizer's file or folder. `format` is the format of the file.
    """
    if format not in LOADED:
        return Sidecars(Path(), "")
    main = tokenizer_file(table)
    folder = main.parent
    names = [
        path.relative_to(folder).as_posix()
        for pattern in OF_TOKENIZERS
        for path in sorted(folder.glob(pattern))
        if path.is_file() and path.stat().st_size <= LARGEST_BESIDE
    ]
    names += [MODEL] if names and (folder / MODEL).is_file() else []
    if not names and main == Path(table):  # a file, which may be in any folder
        return Sidecars(folder, main.name)
    files = {name: (folder / name).read_bytes() for name in names}
    loaders = {path.name for pattern in FILES for path in folder.glob(pattern) if path.is_file()}
    of_main = {main.name, *(BELONGS if main.name in MERGES_NAMES else ())}
    known = {*loaders, *BELONGS, IN_FOLDERS, *(Path(name).parts[0] for name in names)}
    strangers = {path.name for path in folder.iterdir() if not path.name.startswith(".")} - known
    return Sidecars(folder, main.name, files, tuple(sorted(loaders - of_main)), tuple(sorted(strangers)))


def roles_in(sidecars: Sidecars) -> dict[str, str]:
    """Return a dictionary from each role to its special token.

    The name of a role comes from a key of the configuration. For example, the key `bos_token` gives the role
    `bos`.
    """
    config = {**sidecars.read.get(MAP, {}), **sidecars.read.get(CONFIG, {})}
    roles = {key.removesuffix("_token"): _content(value) for key, value in config.items() if key.endswith("_token")}
    return {role: text for role, text in roles.items() if text}


def template_file_in(sidecars: Sidecars) -> str:
    """Return the name of the file with the chat template. Return an empty string if there is none."""
    objects = (CONFIG, TEMPLATES[1])
    holders = [name for name in objects if sidecars.read.get(name, {}).get(TEMPLATE)]
    return next((name for name in (TEMPLATES[0], *holders) if name in sidecars.files), "")


@dataclass(frozen=True, eq=False)
class TokenChange:
    """The tokens of a table before and after a change.

    `renamed` maps the former text of a special token to its new text.
    """

    before: History
    after: History
    renamed: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        return self.renamed.get(text, text)

    @cached_property
    def specials_before(self) -> dict[str, int]:
        return _specials(self.before)

    @cached_property
    def specials(self) -> dict[str, int]:
        return _specials(self.after)

    @cached_property
    def added(self) -> list[str]:
        """Return the special tokens that the table has only after the change."""
        known = {*self.specials_before, *self.texts_before, *self.renamed.values()}
        return [text for text in self.specials if text not in known]

    @cached_property
    def learned(self) -> bool:
        """Return whether the change added tokens that are not special."""
        return not self.texts.keys() <= {*self.texts_before, *self.specials_before}

    @cached_property
    def texts_before(self) -> dict[str, int]:
        return _ids_by_text(self.before)

    @cached_property
    def texts(self) -> dict[str, int]:
        return _ids_by_text(self.after)

    @cached_property
    def by_id(self) -> dict[int, str]:
        return {id: text for text, id in (*self.texts.items(), *self.specials.items())}

    def before_id_of(self, text: str) -> int | None:
        return self.specials_before.get(text, self.texts_before.get(text))

    def id_of(self, text: str) -> int | None:
        """Return the id of a token after the change. Return None if the token does not exist then."""
        return self.specials.get(text, self.texts.get(text))

    def is_removed(self, text: str) -> bool:
        """Return whether the change removed this token from the table."""
        was = text in self.specials_before or text in self.texts_before
        return was and self.id_of(self.text(text)) is None

    @cached_property
    def ids(self) -> dict[int, int | None]:
        """Return a dictionary from each old id to its new id. A removed token has None in place of a new id."""
        new_ids: dict[int, int | None] = {}
        for text, id in self.texts_before.items():
            if new_ids.get(id) is None:
                new_ids[id] = self.id_of(self.text(text))
        new_ids |= {id: self.id_of(self.text(text)) for text, id in self.specials_before.items()}
        return new_ids

    @property
    def keeps_ids(self) -> bool:
        return all(now in (id, None) for id, now in self.ids.items())


def _specials(history: History) -> dict[str, int]:
    numbers = own_numbers(history)[history.first_special :].tolist()
    id_of = dict(zip(history.recipe.special_tokens, numbers, strict=True))
    return {text: id for text, id in id_of.items() if id != NO_NUMBER}


def _ids_by_text(history: History) -> dict[str, int]:
    """Return a dictionary from the text of each token to its id, without special tokens.

    If two tokens have the same text, the text has the id of the older token.
    """
    numbers = own_numbers(history)[: history.first_special]
    texts = written(history)
    has_one = np.flatnonzero(numbers != NO_NUMBER).tolist()
    return {texts[index].decode(errors="surrogateescape"): int(numbers[index]) for index in reversed(has_one)}


@dataclass(frozen=True)
class ChangedSidecars:
    files: Mapping[str, bytes]
    notes: tuple[str, ...]  # sentences about changes and losses


def changed(sidecars: Sidecars, change: TokenChange, overriding: Mapping[str, Any] | None = None) -> ChangedSidecars:
    """Change the sidecar files together with the table, and return them.

    `overriding` holds entries of the configuration that a user chose. An entry with the value None is removed.
    """
    notes = [f"{name} is damaged, and was left out." for name in sidecars.damaged]
    files = dict[str, bytes]()
    overriding = dict(overriding or {})
    template = overriding.pop(TEMPLATE) if TEMPLATES[0] in sidecars.files and TEMPLATE in overriding else None
    for name, content in sidecars.files.items():
        if name in sidecars.damaged:
            continue
        was = sidecars.read.get(name)
        if name == TEMPLATES[0] and template is not None:
            files[name] = template.encode()
            continue
        if was is None:
            files[name] = _rename_in_template(content.decode(errors="surrogateescape"), name, change, notes).encode(
                errors="surrogateescape"
            )
            continue
        now = _changed_object(was, name, change, notes)
        if name == CONFIG and overriding:
            now = _overridden(now, overriding)
        elif name == MAP and overriding:
            now = _overridden(now, {key: value for key, value in overriding.items() if key in now})
        files[name] = content if now == was and list(now) == list(was) else indented_content(now)
    return ChangedSidecars(files, tuple(notes))


def indented_content(whole: Object) -> bytes:
    try:
        return json.dumps(whole, ensure_ascii=False, indent=2).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which a file may spell by its code
        return json.dumps(whole, indent=2).encode() + b"\n"


def _overridden(config: Object, overriding: Mapping[str, Any]) -> Object:
    return {key: value for key, value in {**config, **overriding}.items() if value is not None}


def _changed_object(whole: Object, name: str, change: TokenChange, notes: list[str]) -> Object:
    if name == ADDED:
        return _numbered_texts(whole, name, change, notes)
    if name in (CONFIG, MAP):
        return _changed_config(whole, name, change, notes)
    if name.startswith(TEMPLATE):
        return {key: _changed_template(value, name, change, notes) for key, value in whole.items()}
    changed_whole: Object = _with_ids(whole, name, change, notes)
    _report_sizes(whole, name, change, notes)
    return changed_whole


# --- Texts of tokens --------------------------------------------------------------------


def _changed_config(config: Object, name: str, change: TokenChange, notes: list[str]) -> Object:
    entries: Object = {}
    for key, value in config.items():
        if key == NUMBERED and isinstance(value, dict):
            entries[key] = _numbered_objects(value, name, change, notes)
        elif key in NAMED_TOKENS and isinstance(value, list):
            entries[key] = [_renamed(item, change) for item in value if not change.is_removed(_content(item))]
        elif key in NAMED_TOKENS and isinstance(value, dict):
            entries[key] = {role: _renamed(item, change) for role, item in value.items()}
        elif key == TEMPLATE:
            entries[key] = _changed_template(value, name, change, notes)
        elif key.endswith("_token") and _content(value):
            if change.is_removed(_content(value)):
                # kept explicitly, as a class may have its own token for it
                entries |= {key: None} if name == CONFIG else {}
                notes.append(
                    f"{name} gave the role {key} to {quoted(_content(value))}, which no longer exists. The role "
                    "is now empty."
                )
            else:
                entries[key] = _renamed(value, change)
        else:
            entries[key] = value
    return _with_ids(entries, name, change, notes, nested=False)


def _content(item: Any) -> str:
    """Return the text of a token in a configuration. `item` is a string, or an object with a string and options.

    Return an empty string if there is no text.
    """
    text = item.get("content") if isinstance(item, dict) else item
    return text if isinstance(text, str) else ""


def _renamed(item: Any, change: TokenChange) -> Any:
    if not _content(item):
        return item
    text = change.text(_content(item))
    return {**item, "content": text} if isinstance(item, dict) else text


def _numbered_objects(listed: Object, name: str, change: TokenChange, notes: list[str]) -> Object:
    """Return `listed`, a dictionary of a configuration, with the new ids and names of its tokens.

    The keys are ids, and the values are tokens. Added tokens that are not in the dictionary get entries.
    Sentences about problems are appended to `notes`.
    """
    rows: list[tuple[int, Any]] = []
    for key, item in listed.items():
        id = _new_id(_content(item), int(key), name, change, notes) if key.isdecimal() else None
        if id is not None:
            rows.append((id, _renamed(item, change)))
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    named = {_content(item) for _, item in rows}
    rows += [(change.specials[text], {"content": text, **flags}) for text in change.added if text not in named]
    if any(first > other for (first, _), (other, _) in pairwise(rows)):
        rows.sort(key=lambda row: row[0])
    return {str(id): item for id, item in rows}


def _numbered_texts(listed: Object, name: str, change: TokenChange, notes: list[str]) -> Object:
    """Return a configuration's dictionary `listed` with the new ids and names of its tokens.

    The keys are tokens, and the values are ids. Added tokens that are not in the dictionary get entries. Sentences
    about problems are appended to `notes`.
    """
    id_of: Object = {}
    for text, value in listed.items():
        id = _new_id(text, value, name, change, notes) if isinstance(value, int) else value
        if id is not None:
            id_of[change.text(text)] = id
    return id_of | {text: change.specials[text] for text in change.added if text not in id_of}


def _new_id(text: str, id: int, name: str, change: TokenChange, notes: list[str]) -> int | None:
    """Return the new id of a token in a file, or None if the token was removed. Problems are reported in `notes`."""
    if change.is_removed(text):
        notes.append(f"{name} gave an id to {quoted(text)}, which no longer exists. This id was removed.")
        return None
    known = change.id_of(change.text(text))
    if known is not None:
        return known
    if id in change.by_id:
        notes.append(
            f"{name} gives {quoted(text)} the id {id:,}, but {quoted(change.by_id[id])} has this id now. The "
            "model cannot distinguish these two tokens."
        )
    return id


# --- Templates --------------------------------------------------------------------------


def _changed_template(value: Any, name: str, change: TokenChange, notes: list[str]) -> Any:
    if isinstance(value, str):
        return _rename_in_template(value, name, change, notes)
    if isinstance(value, list):
        return [_changed_template(item, name, change, notes) for item in value]
    if isinstance(value, dict):
        changes = {key: _changed_template(item, name, change, notes) for key, item in value.items() if key != "name"}
        return {key: changes.get(key, item) for key, item in value.items()}
    return value


def _rename_in_template(template: str, name: str, change: TokenChange, notes: list[str]) -> str:
    """Return a template with the new names of its tokens.

    All tokens are renamed at the same time, so two tokens can exchange their names.
    """
    wanted = [text for text in change.renamed if text in template]
    if wanted:
        in_order = sorted(wanted, key=len, reverse=True)
        template, times = re.subn("|".join(map(re.escape, in_order)), lambda match: change.renamed[match[0]], template)
        names = ", ".join(quoted(text) for text in wanted)
        notes.append(
            f"The chat template in {name} used {names}. These names were replaced {count_text(times, 'time')}."
        )
    gone = [text for text in change.specials_before if text in template and change.is_removed(text)]
    notes += [f"The chat template in {name} uses {quoted(text)}, which no longer exists." for text in gone]
    return template


# --- Ids --------------------------------------------------------------------------------


def _with_ids(whole: Object, name: str, change: TokenChange, notes: list[str], *, nested: bool = True) -> Object:
    """Return a configuration with new ids. If `nested` is true, ids in inner objects are replaced, too."""
    config: Object = {}
    for key, value in whole.items():
        if key == FORCED and isinstance(value, list):
            config[key] = [
                [row[0], *(_id_in(row[1:], key, name, change, notes))] if isinstance(row, list) and row else row
                for row in value
            ]
        elif _OF_IDS.search(key):
            config[key] = _id_in(value, key, name, change, notes)
        elif nested and isinstance(value, dict):
            config[key] = _with_ids(value, name, change, notes)
        else:
            config[key] = value
    return config


def _id_in(value: Any, key: str, name: str, change: TokenChange, notes: list[str]) -> Any:
    if isinstance(value, list):
        ids = [(item, _id_in(item, key, name, change, notes)) for item in value]
        return [now for item, now in ids if now is not None or item is None]
    if isinstance(value, dict):
        return {text: _id_in(item, key, name, change, notes) for text, item in value.items()}
    if not isinstance(value, int) or isinstance(value, bool) or value not in change.ids:
        return value
    now = change.ids[value]
    if now is None:
        notes.append(f"{name} names the id {value:,} in {key}, but its token no longer exists. This id was removed.")
    return now


def _report_sizes(whole: Object, name: str, change: TokenChange, notes: list[str]) -> None:
    """Add a note if a file of the model states a number of embeddings that may not fit the new ids."""
    before, now = (int(own_numbers(history).max(initial=NO_NUMBER)) for history in (change.before, change.after))
    inner = whole.get("text_config")
    sizes = [part.get("vocab_size") for part in (whole, inner if isinstance(inner, dict) else {})]
    for size in (size for size in sizes if isinstance(size, int)):
        if now >= size > before:
            notes.append(
                f"{name} says that the model has {count_text(size, 'embedding')}, but the ids now go up to {now:,}. "
                "Resize the embeddings, then change vocab_size."
            )
        elif now < before or not change.keeps_ids:
            notes.append(
                f"{name} describes the old model with {count_text(size, 'embedding')}, but the ids now go up to "
                f"{now:,}. Change its vocab_size when you have resized the embeddings."
            )


def about_uncopied_files(sidecars: Sidecars) -> list[str]:
    """Return a list with a sentence that names the files of the folder that are not copied.

    The tokenizer does not need these files. The list is empty if there are none.
    """
    if not sidecars.strangers:
        return []
    some = ", ".join(sidecars.strangers[:MOST_NAMED])
    more = len(sidecars.strangers) - MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return [
        f"These files of {sidecars.folder} were not copied, because the tokenizer does not need them: {some}{rest}."
    ]


def about_unwritten_sidecars(sidecars: Sidecars) -> str:
    """Return a sentence that lists the sidecar files that are not written, because the table is a single file."""
    names = ", ".join([*sidecars.files, *sidecars.others])
    return (
        f"{names} next to {sidecars.main} are not written with a single file. To write updated copies, write a "
        "folder: end the name of the output in /."
    )
