"""The check of an opened tokenizer: this program must split texts as the library of the file's format does."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bpe_core.errors import LONGEST_SENTENCE, plain, throwing_exceptions
from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.all_formats import content_of, files_beside
from bpe_core.formats.base import Format, Peer
from bpe_core.formats.hugging_face_cache import tokenizer_file
from bpe_core.formats.peer_process import peer_of
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.wording import count_text
from bpe_core.verification.checking import LISTED
from bpe_core.verification.sampling import CheckedTokenizer, answer_of

TEXTS = 400  # texts that are compared at most
PATIENCE = 2.0  # seconds after which no more texts are taken


@dataclass(frozen=True)
class Agreement:
    asked: str  # the name of the library
    texts: int = 0  # the number of texts compared
    agreeing: int = 0
    differences: tuple[str, ...] = ()  # the first few, one sentence each
    silence: str = ""  # why it could not be asked
    call: str = ""  # the call that asked it

    @property
    def sentence(self) -> str:
        if self.silence:
            return self.silence
        sentence = f"agrees with {self.asked} on {self.agreeing:,} of {count_text(self.texts, 'text')} by {self.call}"
        return (
            sentence
            if self.agreeing == self.texts
            else f"{sentence}; for the other texts the library gives other ids than this program"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (plain(self.sentence[0].upper() + self.sentence[1:] + "."), *self.differences)


def check_import(
    path: Path | str,
    opened: OpenedTable,
    *,
    patience: float = PATIENCE,
    cancelled: CancelCheck = never_cancelled,
    apart: bool = False,
) -> Agreement | None:
    """Compare the ids that this program and the library of the format give to hard texts in many scripts.

    Return None if the format has no library. With `apart`, the library loads a large file in another process, so that
    it does not block other threads.
    """
    format = FORMATS.get(opened.format)
    if format is None or not format.peer_name:
        return None
    with ExitStack() as stack:
        try:
            data = content_of(path)
            beside = files_beside(tokenizer_file(path))
            with throwing_exceptions():
                peer = stack.enter_context(peer_of(format, data, opened.history, str(path), beside, apart=apart))()
        except Exception as error:  # any exception of another library
            sentence = f"{format.peer_name} does not load the file, so nothing was compared: {str(error).rstrip('.')}"
            return Agreement(format.peer_name, silence=plain(sentence, LONGEST_SENTENCE))
        if peer is None:
            sentence = (
                f"{format.peer_name} is not installed, or lacks a file, so the ids were not compared with the ids "
                "of that library"
            )
            return Agreement(format.peer_name, silence=sentence)
        return _compared(format, opened, peer, patience, cancelled)


def _compared(format: Format, opened: OpenedTable, peer: Peer, patience: float, cancelled: CancelCheck) -> Agreement:
    checked = CheckedTokenizer(opened.history, format, as_opened=True)
    texts = 0
    differences = list[str]()
    until = time.monotonic() + patience
    for sample in while_wanted(checked.samples(), cancelled, every=1):
        (answer,) = checked.answers([sample])
        texts += 1
        if difference := checked.difference(sample, answer, answer_of(peer, sample), format.peer_name):
            differences.append(difference)
        if texts == TEXTS or time.monotonic() > until:
            break
    silence = "" if texts else f"{format.peer_name} got no text, so nothing was compared"
    return Agreement(
        format.peer_name,
        texts,
        texts - len(differences),
        tuple(differences[:LISTED]),
        silence,
        _way_of_calling(format, opened),
    )


def _way_of_calling(format: Format, opened: OpenedTable) -> str:
    """Return a phrase that says how the library is called, and how special tokens in a text are treated."""
    recipe = opened.history.recipe
    if not format.holds_splitting or not recipe.special_tokens:
        return format.peer_call
    taken = "special tokens matched" if recipe.spelled_specials == "matched" else "special tokens as ordinary text"
    return f"{format.peer_call}, {taken}"
