"""The model of the question about how a chat becomes tokens. A user types the messages and the template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.session.manifests import run_of_session
from app.session.run import Run
from app.session.session import Session
from app.window.questions.chat.examples import FIRST_CHAT, FIRST_TEMPLATE
from app.window.questions.question_model import QuestionModel, Studies
from bpe_core.asking import Question

MESSAGES, TEMPLATE, FOLDER = "messages", "template", "path"
BEGIN_OF_JSON = ("[", "{")


class ColouredPiece(NamedTuple):
    text: str
    role: str
    colour: int  # as of the rows with this role


class ChatModel(QuestionModel):
    """A model of a chat that is split into tokens.

    The user can choose the folder of a model, and then its tokenizer splits the chat. Otherwise the run shown splits
    it.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "chat", messages=FIRST_CHAT, template=FIRST_TEMPLATE)

    def choose_messages(self, text: str) -> None:
        """Choose the messages of the chat. A text that is not JSON becomes one message with the role `user`."""
        is_json = not text.strip() or text.lstrip().startswith(BEGIN_OF_JSON)
        chat = text if is_json else json.dumps([{"role": "user", "content": text}], ensure_ascii=False)
        self.choose(MESSAGES, chat.strip() or "[]")

    def choose_template(self, text: str) -> None:
        """Choose the text of the template. An empty text means the template of the folder."""
        self.choose(TEMPLATE, text if "\n" in text or not text.strip() else text + "\n")

    @property
    def folder(self) -> str:
        return str(self.value(self.parameter(FOLDER)) or "")

    @property
    def template_of_answer(self) -> str:
        return "" if self.answer is None else str(self.answer.facts["template"])

    def pieces(self) -> list[ColouredPiece]:
        """Return the tokens of the rendered chat.

        A character that consists of several tokens belongs to the first of them.
        """
        if self.answer is None:
            return []
        rendered = self.answer.facts["rendered"]
        roles = [*dict.fromkeys(self.answer.kinds)]
        pieces: list[ColouredPiece] = []
        start = 0
        for role, stop in zip(self.answer.kinds, self.answer.columns["stop"], strict=True):
            pieces.append(ColouredPiece(rendered[start:stop], role, roles.index(role)))
            start = max(start, stop)
        return pieces

    def _runs(self) -> list[Run]:
        shown = self._session.runs.shown
        is_learned = shown is not None and shown.history is not None and shown.history.index_count > 0
        return [shown] if shown is not None and is_learned and not self.folder else []

    def _values(self) -> dict[str, Any]:
        values = super()._values()
        runs = self._runs()
        return {**values, FOLDER: run_of_session(runs[0].number)} if runs else values

    def _studies(self, question: Question, runs: list[Run], remarks: list[str]) -> Studies:
        studies = super()._studies(question, runs, remarks)
        if isinstance(studies, Mapping) and studies:
            return next(iter(studies.values()))
        return studies
