"""The question `chat`. It asks how the chat template of a model's folder turns a chat into text, tokens and ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from bpe_core.asking import NONE, Answer, Question, parameter
from bpe_core.delivery.chat_template import (
    JSON_BEGINS,
    Chat,
    ChatTemplate,
    KnownTemplates,
    MessageText,
    read_chat,
    templates_of_folder,
    templates_of_gguf,
)
from bpe_core.delivery.one_folder import files_in, opened_files, special_ids
from bpe_core.delivery.sidecars import sidecars_of
from bpe_core.errors import BpeError, Cancelled, FormatError
from bpe_core.history.token_texts import quoted
from bpe_core.session_file import run_of
from bpe_core.studies.checksums import file_in_words
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Span, Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text

OF_TEMPLATE = "template"  # the role of a token that comes from no message
LISTED = ("id", "text", "role", "message")
USER = "user"
GGUF = "gguf"
MOST_NAMED = 5  # special tokens named in a sentence; the JSON has all
MOST_TURNS = 500  # compared with the turn before
MOST_SPELLED = 2_000  # special tokens that are tried


@dataclass(frozen=True)
class ChatOfFolder(Question):
    """Show a chat as a model gets it: rendered by the template of its folder, token by token, coloured by role.

    The answer also shows how many tokens the template adds, and which special tokens a user could write. It also
    says whether the ids of earlier turns stay the same when a turn is added. If they do, a model can reuse what
    it has computed for these turns. Templates are rendered in a sandbox.
    """

    about = "this place"
    asks = "Which tokens make up a chat?"
    turn = 6
    studies = NONE
    examples = """\
examples:
  bpe-explorer chat model/ messages.json
      The file holds a list of messages, [{"role": "user", "content": "Hello"}], or an object with messages and tools.

  bpe-explorer chat hf:HuggingFaceTB/SmolLM2-135M-Instruct messages.json --generation-prompt --json
      Use a folder in the Hugging Face cache, end with the beginning of an answer, and print ids and roles as JSON.

  bpe-explorer chat tokenizer.json messages.json --template new.jinja
      Try a template before a model has it.

Needs the package jinja2: pip install 'bpe-explorer[chat]'.
"""

    in_python = """
        >>> import bpe_core as bpe
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> with TemporaryDirectory() as folder:
        ...     written = study.save(f"{folder}/tokenizer.json")
        ...     template = "{% for one in messages %}{{ one.role }}: {{ one.content }}{% endfor %}"
        ...     count = Path(folder, "chat_template.jinja").write_text(template)
        ...     answer = bpe.chat(folder, [{"role": "user", "content": "low"}])
        >>> answer.facts["rendered"], answer.facts["roles"][-1]
        ('user: low', 'user')
    """

    path: str = parameter(
        help=(
            "the folder of a model, a GGUF file, or hf:owner/name; if you give a template, also a tokenizer or session"
        ),
        metavar="FOLDER",
        positional=True,
        path="folder",
        title="Folder",
        in_words={"": "none"},
    )
    messages: str | list[dict[str, Any]] = parameter(
        help="a .json file with the messages of a chat",
        metavar="MESSAGES",
        positional=True,
        path="file",
        title="File with a chat",
        in_words={"": "none yet"},
    )
    generation_prompt: bool = parameter(
        False,
        help="end the chat with the beginning of an answer, so that a model writes the rest of the answer",
        title="Begin the model's answer",
    )
    template: str = parameter(
        "",
        help="a .jinja file, the text of a template, or the name of one of several templates of the folder",
        metavar="TEMPLATE",
        title="Template",
        in_words={"": "the folder's own"},
        is_extra=True,
    )

    def cited(self) -> Sequence[str]:
        """Return the file of the tokenizer and the file of the messages, if there is one, with their checksums."""
        path = Path(run_of(self.path)[0])
        tokenizer = path if path.is_file() else files_in(self.path)[1][0]
        files = [f"Tokenizer {file_in_words(tokenizer)}"]
        if isinstance(self.messages, str) and not self.messages.lstrip().startswith(JSON_BEGINS):
            files.append(f"Messages {file_in_words(Path(self.messages))}")
        return files

    def answer(self, study: Any = None, work: Work = ALONE) -> Answer:
        chat = read_chat(self.messages)
        study, templates = self._opened(work) if study is None else (study, KnownTemplates())
        template = templates.chosen(self.template, has_tools=bool(chat.tools))
        rendered = _RenderedChat(study, template, chat, self.generation_prompt)
        return _answer(rendered, special_ids(study.history), work)

    def _opened(self, work: Work) -> tuple[Study, KnownTemplates]:
        """Return the tokenizer of the folder or file, and the chat templates of this folder or file."""
        path = Path(run_of(self.path)[0])
        if path.is_file():
            study = open_study(self.path)
            if study.format == GGUF:
                return study, templates_of_gguf(path)
            return study, templates_of_folder(sidecars_of(self.path, study.format))
        folder, paths = files_in(self.path)
        files, refused = opened_files(paths[:1], work)
        if not files:
            raise FormatError(refused[0])
        opened = files[0].opened
        study = Study(opened.history, name=str(folder), format=opened.format, notes=opened.notes)
        return study, _templates_in(folder, paths, opened.format)


def _templates_in(folder: Path, paths: Sequence[Path], format: str) -> KnownTemplates:
    """Return the chat templates of a folder. The templates in a GGUF file are used only if no other file has any."""
    known = templates_of_folder(sidecars_of(folder, format))
    models = [path for path in paths if path.suffix == f".{GGUF}"]
    if known.by_name or not models:
        return known
    of_model = templates_of_gguf(models[0])
    return replace(of_model, place=str(folder), specials={**of_model.specials, **known.specials})


@dataclass(frozen=True)
class _RenderedChat:
    """A chat that a template has turned into text, with its tokens."""

    study: Study
    template: ChatTemplate
    chat: Chat
    asks: bool = False

    @cached_property
    def text(self) -> str:
        return self.template.rendered(self.chat, asks=self.asks)

    @cached_property
    def spans(self) -> list[Span]:
        return self.study.spans(self.text, allowed_special="all")

    @cached_property
    def ids(self) -> list[int]:
        return self.study.encode(self.text, allowed_special="all")

    @cached_property
    def places(self) -> list[MessageText]:
        return self.template.message_texts(self.chat, self.text, asks=self.asks)

    @cached_property
    def messages(self) -> list[int | None]:
        """Return the number of the message from which each token comes. The first message is number 1.

        The number is None if the token comes from the template.
        """
        messages = list[int | None]()
        place = 0
        for span in self.spans:
            while place < len(self.places) and self.places[place].stop <= span.start:
                place += 1
            is_inside = place < len(self.places) and span.stop > self.places[place].start
            messages.append(self.places[place].message + 1 if is_inside else None)
        return messages

    @cached_property
    def roles(self) -> list[str]:
        messages = self.chat.messages
        return [OF_TEMPLATE if message is None else str(messages[message - 1]["role"]) for message in self.messages]

    def first(self, count: int, *, asks: bool = False) -> _RenderedChat:
        return _RenderedChat(self.study, self.template, self.chat.first(count), asks)


@dataclass(frozen=True)
class _Turn:
    """A comparison of the ids of a chat after two successive turns.

    `common` is the length of the common prefix: the number of equal ids at the beginning.
    """

    message: int
    tokens: int
    before: int  # the message of the turn before
    before_tokens: int
    is_asked: bool  # whether the turn before ends with the beginning of an answer
    common: int

    @property
    def is_kept(self) -> bool:
        return self.common == self.before_tokens


def _answer(chat: _RenderedChat, specials: Mapping[str, int], work: Work) -> Answer:
    texts = [span.text for span in chat.spans]
    columns: dict[str, Any] = {
        "id": chat.ids,
        "text": texts,
        "role": chat.roles,
        "message": chat.messages,
        "start": [span.start for span in chat.spans],
        "stop": [span.stop for span in chat.spans],
    }
    turns, alone = _compare_turns(chat, work)
    spellable = _tokens_users_can_write(chat, specials, work)
    spelled = {
        number + 1: spelled_here
        for number, text in chat.chat.texts()
        if (spelled_here := [special for special in specials if special in text])
    }
    of_template = sum(message is None for message in chat.messages)
    written = zip(chat.spans, chat.roles, strict=True)
    sentences = [
        *_about_costs(chat, of_template),
        *_about_turns(turns, alone),
        *_about_specials(spellable, spelled, {span.text for span, role in written if role == OF_TEMPLATE}),
    ]
    facts = {
        "ids": chat.ids,
        "roles": chat.roles,
        "rendered": chat.text,
        "template": chat.template.text,
        "template_tokens": of_template,
        "message_tokens": len(chat.ids) - of_template,
        "turns": [
            {"message": turn.message, "tokens": turn.tokens, "before": turn.before, "asks": turn.is_asked}
            | {"common": turn.common, "is_kept": turn.is_kept}
            for turn in turns
        ],
        "not_rendered_alone": alone,
        "spellable": spellable,
        "spelled": {str(number): names for number, names in spelled.items()},
    }
    table = DataTable(columns)
    return Answer(table, tuple(sentences), None, LISTED, facts=facts, tokens=tuple(texts), kinds=tuple(chat.roles))


def _about_costs(chat: _RenderedChat, of_template: int) -> Iterator[str]:
    total = len(chat.ids)
    count = len(chat.chat.messages)
    messages = count_text(count, "message")
    become = "becomes" if count == 1 else "become"
    share = f" ({of_template / total:.1%})" if total else ""
    yield (
        f"{messages} {become} {count_text(total, 'token')}: {total - of_template:,} from their text, and "
        f"{of_template:,} from the template{share}."
    )
    known = {place.message for place in chat.places}
    lacking = [number + 1 for number, text in chat.chat.texts() if text.strip() and number not in known]
    if lacking:
        some = ", ".join(f"{number:,}" for number in lacking[:MOST_NAMED])
        yield (
            f"The rendered chat does not hold the exact text of message {some}. This text counts as part of the "
            "template."
        )


def _compare_turns(chat: _RenderedChat, work: Work) -> tuple[list[_Turn], list[int]]:
    """Compare the ids of a chat after each turn with the ids after the turn before.

    Return the comparisons, and the numbers of the messages after which the template cannot render the chat.
    """
    count = min(len(chat.chat.messages), MOST_TURNS)
    known = dict[int, _RenderedChat]()
    refused = list[int]()
    for number in range(1, count + 1):
        work.check()
        work.progress(Progress("rendering turns", number, count, "turns"))
        turn = chat.first(number)
        try:
            _ = turn.ids
        except Cancelled:
            raise
        except BpeError:
            refused.append(number)
        else:
            known[number] = turn
    turns = list[_Turn]()
    for before, number in pairwise(known):
        turns.append(_turn(known[before], known[number], before, number))
        if chat.chat.messages[number - 1]["role"] == "assistant":
            asked = chat.first(number - 1, asks=True)
            try:
                turns.append(_turn(asked, known[number], number - 1, number))
            except BpeError:  # nothing can be asked after this message
                continue
    return turns, refused


def _turn(former: _RenderedChat, turn: _RenderedChat, before: int, number: int) -> _Turn:
    pairs = enumerate(zip(former.ids, turn.ids, strict=False))
    shorter = min(len(former.ids), len(turn.ids))
    common = next((place for place, (id, other) in pairs if id != other), shorter)
    return _Turn(number, len(turn.ids), before, len(former.ids), former.asks, common)


def _about_turns(turns: Sequence[_Turn], refused: Sequence[int]) -> Iterator[str]:
    plain = [turn for turn in turns if not turn.is_asked]
    asked = [turn for turn in turns if turn.is_asked]
    if plain and all(turn.is_kept for turn in plain):
        yield "The ids up to each message begin with the ids up to the message before it."
    for turn in [turn for turn in plain if not turn.is_kept][:MOST_NAMED]:
        yield (
            f"The ids up to message {turn.message:,} do not begin with the ids up to message {turn.before:,}. Only the "
            f"first {turn.common:,} of {count_text(turn.before_tokens, 'id is', 'ids are')} the same, so a model must "
            "process the other ids again."
        )
    if asked and all(turn.is_kept for turn in asked):
        yield "The ids up to each answer begin with the ids of the prompt that asks for the answer."
    for turn in [turn for turn in asked if not turn.is_kept][:MOST_NAMED]:
        yield (
            f"The ids up to message {turn.message:,} do not begin with the ids of the prompt that asks for it. "
            f"Only the first {turn.common:,} of {count_text(turn.before_tokens, 'id is', 'ids are')} the same."
        )
    if refused:
        some = ", ".join(f"{number:,}" for number in refused[:MOST_NAMED])
        yield f"The template cannot render the chat up to message {some} without the messages after it."


def _tokens_users_can_write(chat: _RenderedChat, specials: Mapping[str, int], work: Work) -> list[str]:
    """Return the special tokens that a user can produce by writing their texts.

    To find them, each special token is written in place of the user's first text. If its id then occurs more often, the
    user can produce it.
    """
    messages = chat.chat.messages
    place = next((number for number, message in enumerate(messages) if message["role"] == USER), None)
    if place is None:
        return []

    def ids(text: str) -> list[int]:
        asked = Chat((*messages[:place], {**messages[place], "content": text}), chat.chat.tools)
        try:
            return _RenderedChat(chat.study, chat.template, asked).ids
        except Cancelled:
            raise
        except BpeError:
            return []

    usual = ids("x")
    spellable = list[str]()
    tried = [*specials.items()][:MOST_SPELLED]
    for number, (special, id) in enumerate(tried):
        work.check()
        work.progress(Progress("trying special tokens", number, len(tried), "tokens"))
        if ids(f"x{special}x").count(id) > usual.count(id):
            spellable.append(special)
    return spellable


def _about_specials(
    spellable: Sequence[str], spelled: Mapping[int, Sequence[str]], of_template: Collection[str]
) -> Iterator[str]:
    if spellable:
        yield f"A user's text can spell {count_text(len(spellable), 'special token')}: {_some(spellable)}."
        used = [special for special in spellable if special in of_template]
        if used:
            yield f"The template writes {_some(used)}, so a user's text can look like a turn of the template."
    for number, names in [*spelled.items()][:MOST_NAMED]:
        yield f"Message {number:,} spells {_some(names)}."


def _some(specials: Sequence[str]) -> str:
    more = len(specials) - MOST_NAMED
    return ", ".join(map(quoted, specials[:MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")
