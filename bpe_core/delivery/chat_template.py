"""The chat template of a model's folder: its file, its input, and the text that it makes of a chat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bpe_core.delivery.sidecars import TEMPLATE, TEMPLATES, Sidecars, roles_in
from bpe_core.errors import FormatError, TooLarge, TooManyValues
from bpe_core.formats.base import decoded
from bpe_core.formats.json_reading import LARGEST
from bpe_core.formats.transformers_beside import CONFIG
from bpe_core.support.foreign import parsed_json
from bpe_core.support.optional_packages import MISSING_JINJA, has_jinja

if TYPE_CHECKING:
    from bpe_core.delivery.chat_sandbox import PreparedTemplate

DEFAULT = "default"
WITH_TOOLS = "tool_use"  # the template that transformers takes for a chat with tools, if there is one
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")  # the special tokens that a template is given by name
REASONING = ("reasoning_content", "thinking", "reasoning")  # names of what a model thought before it answered
FIRST_MARK = 0xF0000  # signs for private use, put around messages to find them in the rendered text
MOST_MARKED = 30_000
JSON_BEGINS = ("[", "{")
OF_TEMPLATES = ("{{", "{%", "{#", "\n")  # signs that are in the text of a template, and in no name of a template
IN_TEXT = "the given text"  # where a template is that no file holds
ENDING = ".jinja"
NO_CHAT_FILE = "name a .json file with the messages of a chat"
NO_TEMPLATE_FILE = "name a .jinja file with a chat template"
NO_MESSAGES = (
    '{}: a chat is a list of messages, each with a role and a content: [{{"role": "user", "content": "Hello"}}], '
    'or an object with the entry "messages".'
)


class MessageText(NamedTuple):
    """The offsets of a message's text in a rendered chat."""

    start: int
    stop: int
    message: int  # its number, counted from 0


@dataclass(frozen=True)
class Chat:
    """The input of a template: messages, and descriptions of tools."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Any, ...] = ()

    def first(self, count: int) -> Chat:
        return replace(self, messages=self.messages[:count])

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the text of each message in order, with the index of the message."""
        for number, message in enumerate(self.messages):
            content = message.get("content")
            parts = content if isinstance(content, list) else [content]
            for part in parts:
                text = part.get("text") if isinstance(part, dict) else part
                if isinstance(text, str):
                    yield number, text


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template, with the name of its file and the special tokens that it can use."""

    text: str
    file: str
    specials: Mapping[str, str]

    @cached_property
    def _prepared(self) -> PreparedTemplate:
        if not has_jinja():
            raise FormatError(f"A chat template {MISSING_JINJA}")
        from bpe_core.delivery.chat_sandbox import PreparedTemplate  # which needs Jinja2

        return PreparedTemplate(self.text, self.file)

    def rendered(self, chat: Chat, *, asks: bool = False) -> str:
        """Return the text that the template makes of a chat.

        With `asks`, the text ends with the words that begin an answer of the model.
        """
        values = {
            **self.specials,
            "messages": [_as_given(message) for message in chat.messages],
            "tools": list(chat.tools) or None,
            "documents": None,
            "add_generation_prompt": asks,
        }
        text = self._prepared.rendered(values)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise FormatError(
                f"The rendered chat is not valid text: at offset {error.start:,} there is half of a surrogate "
                "pair. Remove this half from its message."
            ) from error
        return text

    def message_texts(self, chat: Chat, text: str, *, asks: bool = False) -> list[MessageText]:
        """Return the offsets of the messages' texts in the rendered chat.

        The chat is rendered again with a unique character at both ends of each message. If the second result differs
        from the first only by these characters, they show the offsets. Otherwise each message is searched for,
        beginning at the end of the message before it.
        """
        try:
            places = self._by_marks(chat, text, asks=asks)
        except (FormatError, TooLarge):  # a template may look into a message
            places = None
        return [*_in_order(chat, text)] if places is None else places

    def _by_marks(self, chat: Chat, text: str, *, asks: bool) -> list[MessageText] | None:
        texts = [*chat.texts()]
        if len(texts) > MOST_MARKED:
            return None
        marked = self.rendered(_marked(chat), asks=asks)
        plain = list[str]()
        places = dict[int, int]()  # of each sign in the text without signs
        for character in marked:
            number = ord(character) - FIRST_MARK
            if 0 <= number < 2 * len(texts):
                if number in places:
                    return None
                places[number] = len(plain)
            else:
                plain.append(character)
        if "".join(plain) != text:
            return None
        message_places = list[MessageText]()
        for number, (message, content) in enumerate(texts):
            start, stop = places.get(2 * number), places.get(2 * number + 1)
            if start is not None and stop is not None:
                message_places.append(_with_spaces(text, content, MessageText(start, stop, message)))
        return sorted(message_places)


def _marked(chat: Chat) -> Chat:
    """Return the chat with a unique character at both ends of each text.

    If a text begins or ends with spaces, the characters are put inside these spaces.
    """
    count = 0

    def marked(text: str) -> str:
        nonlocal count
        inner = text.strip()
        signs = (chr(FIRST_MARK + 2 * count), chr(FIRST_MARK + 2 * count + 1))
        count += 1
        before = text[: len(text) - len(text.lstrip())] if inner else ""
        return f"{before}{signs[0]}{inner}{signs[1]}{text[len(before) + len(inner) :]}"

    messages = list[Mapping[str, Any]]()
    for message in chat.messages:
        content = message.get("content")
        if isinstance(content, str):
            content = marked(content)
        elif isinstance(content, list):
            content = [_marked_part(part, marked) for part in content]
        messages.append({**message, "content": content} if "content" in message else message)
    return replace(chat, messages=tuple(messages))


def _marked_part(part: Any, marked: Any) -> Any:
    if isinstance(part, str):
        return marked(part)
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return {**part, "text": marked(part["text"])}
    return part


def _with_spaces(text: str, content: str, place: MessageText) -> MessageText:
    """Extend the offsets of a message by the spaces at its ends, if the template kept these spaces."""
    inner = content.strip()
    if not inner:
        return place
    before, _, behind = content.partition(inner)
    start = place.start - len(before) if text[: place.start].endswith(before) else place.start
    stop = place.stop + len(behind) if text.startswith(behind, place.stop) else place.stop
    return MessageText(max(0, start), stop, place.message)


def _in_order(chat: Chat, text: str) -> Iterator[MessageText]:
    last = 0
    for message, content in chat.texts():
        for wanted in (content, content.strip()):
            start = text.find(wanted, last) if wanted else -1
            if start >= 0:
                last = start + len(wanted)
                yield MessageText(start, last, message)
                break


def _as_given(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in the form in which transformers passes it to a template.

    Empty values are left out. The reasoning of the model is passed by two names.
    """
    given = {key: value for key, value in message.items() if value is not None}
    reasoning = next((given[key] for key in REASONING if key in given), None)
    return given if reasoning is None else {"thinking": reasoning, **given, "reasoning_content": reasoning}


# --- Reading ----------------------------------------------------------------------------


def template_in(sidecars: Sidecars, name: str = "", *, has_tools: bool = False) -> ChatTemplate:
    """Return the chat template of a folder. If there are several, return the template with this name.

    Without a name, return the template that transformers uses. The name may also be the text of another template, or
    its file. Raise FormatError if there is no such template.
    """
    specials = {f"{role}_token": token for role, token in roles_in(sidecars).items() if role in ROLES}
    if any(sign in name for sign in OF_TEMPLATES):
        return ChatTemplate(name, IN_TEXT, specials)
    if name.endswith(ENDING):
        return ChatTemplate(_text_of(Path(name), NO_TEMPLATE_FILE), name, specials)
    known = {called: ChatTemplate(text, file, specials) for called, (text, file) in _templates(sidecars).items()}
    if not known:
        place = f"{sidecars.folder} has" if sidecars.main else "This tokenizer has"
        raise FormatError(
            f"{place} no chat template: neither {TEMPLATES[0]}, nor {TEMPLATE} in {CONFIG}. Give a template, or name "
            "the folder of a model for chats."
        )
    wanted = name or (WITH_TOOLS if has_tools and WITH_TOOLS in known else DEFAULT)
    if wanted not in known:
        names = ", ".join(sorted(known))
        raise FormatError(f"{sidecars.folder} has no chat template called {wanted}; name one of: {names}.")
    return known[wanted]


def _templates(sidecars: Sidecars) -> dict[str, tuple[str, str]]:
    """Return the text and the file name of each template, by the name of the template.

    If a template is in a separate file and in the configuration, the separate file is used.
    """
    templates = dict[str, tuple[str, str]]()
    for file, data in sidecars.files.items():
        if file.endswith(ENDING):
            templates[DEFAULT if file == TEMPLATES[0] else Path(file).stem] = decoded(data, file, "utf-8"), file
    for file in (CONFIG, TEMPLATES[1]):
        held = sidecars.read.get(file, {}).get(TEMPLATE)
        if templates or not isinstance(held, str | list | dict):
            continue
        named: Any = {DEFAULT: held} if isinstance(held, str) else held
        if isinstance(held, list):
            named = {entry.get("name"): entry.get("template") for entry in held if isinstance(entry, dict)}
        for called, text in named.items():
            if not isinstance(called, str) or not isinstance(text, str):
                raise FormatError(f"{file}: {TEMPLATE} must be a template, or a list of templates with names.")
            templates[called] = text, file
    return templates


def read_chat(given: Any) -> Chat:
    """Return a chat. `given` is the path of a .json file, JSON text, or a list of messages."""
    name = "the chat"
    if isinstance(given, str):
        if not given.lstrip().startswith(JSON_BEGINS):
            name = given
            given = _text_of(Path(given), NO_CHAT_FILE)
        given = _parsed(given, name)
    tools = given.get("tools") if isinstance(given, dict) else None
    messages = given.get("messages") if isinstance(given, dict) else given
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages:
        raise FormatError(NO_MESSAGES.format(name))
    for number, message in enumerate(messages, 1):
        _check_message(message, f"{name}, message {number:,}")
    if tools is not None and not isinstance(tools, list):
        raise FormatError(f"{name}: tools must be a list.")
    return Chat(tuple(messages), tuple(tools or ()))


def _text_of(path: Path, advice: str) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise TooLarge(f"{path}: a chat or a template can have {LARGEST:,} bytes at most.")
        return decoded(path.read_bytes(), str(path), "utf-8-sig")
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read; {advice}.") from error


def _parsed(text: str, name: str) -> Any:
    try:
        return parsed_json(text)
    except json.JSONDecodeError as error:
        at = f"{name}, line {error.lineno:,}, column {error.colno:,}"
        raise FormatError(f"{at}: this is not valid JSON from here on.") from error
    except TooManyValues as error:
        raise TooLarge(f"{name}: the chat holds too many values.") from error
    except (RecursionError, ValueError) as error:
        raise FormatError(f"{name}: this JSON is nested too deeply, or holds a number that is too long.") from error


def _check_message(message: object, where: str) -> None:
    if not isinstance(message, dict):
        raise FormatError(NO_MESSAGES.format(where))
    if not isinstance(message.get("role"), str):
        raise FormatError(f"{where}: the message has no role, such as user or assistant.")
    content = message.get("content")
    if not isinstance(content, str | list) and not (content is None and message.get("tool_calls")):
        raise FormatError(f"{where}: the message has no content, which must be a text, or a list of parts.")
