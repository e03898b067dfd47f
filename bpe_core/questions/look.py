"""The question `look`. It asks how a tokenizer splits a text. It shows coloured tokens, ids and unusual tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import specials_parameter
from bpe_core.history.token_texts import quoted
from bpe_core.insight.audit import CRITERIA, LONG, how_written
from bpe_core.segmenting.cutting import ALLOWED, Allowed
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work, never_cancelled
from bpe_core.support.wording import count_text

UNKNOWN = "unknown"
BROKEN = "broken"
LONG_ONE = "long"
MIXED = "mixed"
ODD = {
    UNKNOWN: "The tokenizer has no token for these characters.",
    BROKEN: "The token begins or ends inside a character.",
    LONG_ONE: CRITERIA["long"],
    MIXED: CRITERIA["mixed"],
}


@dataclass(frozen=True)
class Look(Question):
    """Show a text as a tokenizer splits it: coloured tokens, their ids, and unusual tokens."""

    about = "this place"
    asks = "Which tokens does a text have?"
    turn = 4
    table_first = True
    examples = """\
examples:
  bpe-explorer look tokenizer.json "the lowest price"
      Show the tokens in colour, and a row for each: its id, its bytes and its place.

  bpe-explorer look hf:openai-community/gpt2 < page.txt
      Use a tokenizer from the Hugging Face cache, and a text from standard input.

The answer marks as unusual: parts of characters, unknown characters, tokens of more than one script, very long tokens,
a special token that is written in the text, and a text that decoding does not restore exactly.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.look(study, "the lowest").columns["text"]
        ['t', 'h', 'e', '␣lowe', 's', 't']
    """

    text: str = parameter(help="the text (default: standard input)", metavar="TEXT", positional=True, from_input=True)
    specials: str = specials_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        spans = study.inside.by_index.tokenizer.token_spans(self.text, allowed_special=ALLOWED[self.specials])
        names = study.inside.by_index.texts
        indices = [span.id for span in spans]
        texts = [names.text[index] for index in indices]
        odd = list(_unusual_properties(study, indices))
        columns: dict[str, Values] = {
            "id": [*map(study.inside.by_index.number, indices)],
            "text": texts,
            "hex": [names.raw[index].hex(" ") for index in indices],
            "start": [span.first_char for span in spans],
            "stop": [span.behind_char for span in spans],
            "odd": odd,
        }
        sentences = (
            *_sizes(self.text, len(spans)),
            *_about(odd),
            *_spelled(study, self.text, ALLOWED[self.specials]),
            *_differences(study, self.text, indices),
        )
        return Answer(DataTable(columns), sentences, tokens=tuple(texts), headings={"text": "token"})


def _unusual_properties(study: Study, indices: list[int]) -> Iterator[str]:
    """Yield the unusual properties of each token. The dictionary `ODD` explains their names."""
    broken, lengths, mixed = how_written([study.inside.by_index.texts.raw[index] for index in indices], never_cancelled)
    kinds = (broken, lengths > LONG, mixed)
    for place, index in enumerate(indices):
        names = [name for name, meets in zip((BROKEN, LONG_ONE, MIXED), kinds, strict=True) if meets[place]]
        yield UNKNOWN if index == study.history.alphabet.unknown_id else ", ".join(names)


def _sizes(text: str, tokens: int) -> Iterator[str]:
    size = len(text.encode())
    each = f", {size / tokens:.2f} bytes a token" if tokens else ""
    yield f"{count_text(tokens, 'token')} of {count_text(len(text), 'character')}, {count_text(size, 'byte')}{each}."


def _about(odd: list[str]) -> Iterator[str]:
    for name, sentence in ODD.items():
        times = sum(name in names.split(", ") for names in odd)
        if times:
            yield f"{times:,} {name}: {sentence}"


def _spelled(study: Study, text: str, allowed: Allowed) -> Iterator[str]:
    matched = study.inside.by_index.tokenizer.allowed(allowed)
    for special in study.history.recipe.special_tokens:
        if special in text:
            taken = "is read as a special token" if special in matched else "is split like any other text"
            yield f"The special token {quoted(special)} is written in the text, and {taken}."


def _differences(study: Study, text: str, indices: list[int]) -> Iterator[str]:
    back = study.inside.by_index.tokenizer.decode(indices)
    if back != text:
        both = np.array([before == other for before, other in zip(back, text, strict=False)], np.bool_)
        place = len(both) if both.all() else int(both.argmin())
        yield f"Decoding gives another text: {quoted(back[place:])} instead of {quoted(text[place:])}."
