"""The chat template of a model: its file, its input, and the text that it makes from a chat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bpe_core.delivery.sidecars import TEMPLATE, TEMPLATES, Sidecars, roles_in
from bpe_core.errors import FormatError, TooLarge, TooManyValues
from bpe_core.formats.base import decoded
from bpe_core.formats.gguf_section import CHAT_TEMPLATE, LARGEST_HEAD, read_section
from bpe_core.formats.json_reading import LARGEST
from bpe_core.formats.transformers_files import CONFIG
from bpe_core.support.foreign import parsed_json
from bpe_core.support.optional_packages import MISSING_JINJA, has_jinja

if TYPE_CHECKING:
    from bpe_core.delivery.chat_sandbox import PreparedTemplate

DEFAULT = "default"
WITH_TOOLS = "tool_use"  # the template that transformers takes for a chat with tools, if there is one
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")  # the special tokens that a template is given by name
ROLES_IN_GGUF = {  # the beginning of each role's key in a GGUF file, spelled as there
    **{role: role for role in ("bos", "eos", "cls", "mask")},
    "unk": "unknown",
    "sep": "seperator",
    "pad": "padding",
}
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
    """The offsets at which a message's text begins and ends in a rendered chat."""

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
        """Yield the texts of the chat's messages in order, each as `(index of the message, text)`."""
        for number, message in enumerate(self.messages):
            content = message.get("content")
            parts = content if isinstance(content, list) else [content]
            for part in parts:
                text = part.get("text") if isinstance(part, dict) else part
                if isinstance(text, str):
                    yield number, text


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template, with the name of its file and the special tokens that it may use."""

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
        """Return the text that the template makes from a chat.

        If `asks` is true, the text ends with the beginning of an answer, so that the model continues with its answer.
        """
        values = {
            **self.specials,
            "messages": [_for_template(message) for message in chat.messages],
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
        """Return the offsets of all messages in the rendered chat.

        The chat is rendered again with a unique character at both ends of each message. If the second result differs
        from the first only by these characters, they show the offsets. Otherwise each message is searched for after the
        end of the previous message.
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
        marked = self.rendered(_with_marks(chat), asks=asks)
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


def _with_marks(chat: Chat) -> Chat:
    """Return the chat with a unique character at both ends of each text.

    If a text begins or ends with spaces, these spaces stay outside the two characters.
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
    """Extend the offsets of a message so that they include the spaces at its ends, if the template keeps them."""
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


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as transformers gives it to a template.

    Values of None are left out. The reasoning of the model is given under two names.
    """
    given = {key: value for key, value in message.items() if value is not None}
    reasoning = next((given[key] for key in REASONING if key in given), None)
    return given if reasoning is None else {"thinking": reasoning, **given, "reasoning_content": reasoning}


# --- Reading ----------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownTemplates:
    """The chat templates of a folder or a file, and the special tokens that they can use.

    `by_name` maps the name of each template to its text and the name of its file.
    """

    place: str = ""  # the folder or the file
    by_name: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    specials: Mapping[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        return {name: text for name, (text, _) in self.by_name.items()}

    def chosen(self, name: str = "", *, has_tools: bool = False) -> ChatTemplate:
        """Return the template with this name.

        If `name` is empty, return the template that transformers uses. `name` can also be the text of a template,
        or the path of a template file. Raise FormatError if there is no such template.
        """
        if any(sign in name for sign in OF_TEMPLATES):
            return ChatTemplate(name, IN_TEXT, self.specials)
        if name.endswith(ENDING):
            return ChatTemplate(_text_of(Path(name), NO_TEMPLATE_FILE), name, self.specials)
        if not self.by_name:
            raise FormatError(
                f"{self.place or 'This tokenizer'} has no chat template: neither {TEMPLATES[0]}, nor {TEMPLATE} in "
                f"{CONFIG} or in a GGUF file. Give a template, or name the folder of a model for chats."
            )
        wanted = name or (WITH_TOOLS if has_tools and WITH_TOOLS in self.by_name else DEFAULT)
        if wanted not in self.by_name:
            names = ", ".join(sorted(self.by_name))
            raise FormatError(f"{self.place} has no chat template called {wanted}; name one of: {names}.")
        return ChatTemplate(*self.by_name[wanted], self.specials)


def templates_of_folder(sidecars: Sidecars) -> KnownTemplates:
    """Return the chat templates in the files beside a tokenizer."""
    specials = {f"{role}_token": token for role, token in roles_in(sidecars).items() if role in ROLES}
    return KnownTemplates(str(sidecars.folder) if sidecars.main else "", _templates(sidecars), specials)


def templates_of_gguf(path: Path) -> KnownTemplates:
    """Return the chat templates in a GGUF file."""
    with path.open("rb") as file:
        section = read_section(file.read(LARGEST_HEAD), path.name)
    texts = section.get("tokens")
    numbers = {role: section.get(f"{key}_token_id") for role, key in ROLES_IN_GGUF.items()}
    specials = {
        f"{role}_token": texts[number]
        for role, number in numbers.items()
        if isinstance(texts, list) and isinstance(number, int) and 0 <= number < len(texts)
    }
    templates = {
        key.removeprefix(CHAT_TEMPLATE).removeprefix(".") or DEFAULT: (text, path.name)
        for key, text in section.items()
        if (key == CHAT_TEMPLATE or key.startswith(f"{CHAT_TEMPLATE}.")) and isinstance(text, str)
    }
    return KnownTemplates(str(path), templates, specials)


def _templates(sidecars: Sidecars) -> dict[str, tuple[str, str]]:
    """Return the templates that transformers finds, as a dictionary from their names to `(text, file name)`.

    If separate files hold templates, the configuration is not read.
    """
    known = dict[str, tuple[str, str]]()
    for file, templates in templates_by_file(sidecars):
        if not known or file.endswith(ENDING):
            known |= {name: (text, file) for name, text in templates.items()}
    return known


def templates_by_file(sidecars: Sidecars) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the files with chat templates that are next to a tokenizer.

    Each file is yielded as its name and a dictionary from the names of the templates to their texts.
    """
    for file, data in sidecars.files.items():
        if file.endswith(ENDING):
            name = DEFAULT if file == TEMPLATES[0] else Path(file).stem
            yield file, {name: decoded(data, file, "utf-8")}
    for file in (CONFIG, TEMPLATES[1]):
        held = sidecars.read.get(file, {}).get(TEMPLATE)
        if not isinstance(held, str | list | dict):
            continue
        named: Any = {DEFAULT: held} if isinstance(held, str) else held
        if isinstance(held, list):
            named = {entry.get("name"): entry.get("template") for entry in held if isinstance(entry, dict)}
        if not all(isinstance(part, str) for entry in named.items() for part in entry):
            raise FormatError(f"{file}: {TEMPLATE} must be a template, or a list of templates with names.")
        yield file, named


def read_chat(given: Any) -> Chat:
    """Read a chat from the path of a .json file, from JSON text, or from a list of messages."""
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
        with path.open("rb") as file:  # a device has no size, but may have no end
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise TooLarge(f"{path}: a chat or a template can have {LARGEST:,} bytes at most.")
        return decoded(data, str(path), "utf-8-sig")
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
