"""The question `twins`. It asks which tokens differ only in a leading space or in capital letters.

For example, the tokens `the`, `The` and `␣the` are twins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import steps_parameter
from bpe_core.figures.figure import Line, LineFigure
from bpe_core.history.token_texts import decoded
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

SPACE = " "


HEADINGS = {"family": "letters", "forms": "tokens", "texts": "texts of the tokens", "ids": "ids of the tokens"}


@dataclass(frozen=True)
class Twins(Question):
    """Show which tokens differ only in a leading space or in capitals, and their share of the vocabulary.

    A token that continues a word, such as `##s`, is a twin of the same token at the beginning of a word. Tokens
    that hold a part of a character have no twins.
    """

    about = "the vocabulary"
    asks = "Which tokens are almost alike?"
    turn = 6
    follows_time = True
    examples = """\
examples:
  bpe-explorer twins tokenizer.json
      Show the largest families of twins, and their share of the vocabulary.

  bpe-explorer twins merges.csv --at 300 --csv > twins.csv
      Write all families, after 300 merges.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.twins(study).columns["texts"][:2]
        ['N n ␣n', 'A a']
    """

    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        then = study.at(study.inside.checked_step_count(self.at))
        history = then.history
        texts = decoded(then.history)
        no_text = {id for id, symbol in enumerate(history.alphabet.but_seeds) if symbol.kind in ("fallback", "unknown")}
        ids = [id for id in history.vocabulary.tolist() if id < history.first_special and id not in no_text]
        known = {id: text for id in ids if (text := _whole(texts[id])).removeprefix(SPACE)}
        by_word = _alike(known, lambda text: text.removeprefix(SPACE).lower())
        families = [family for family in by_word if len(family) > 1]
        families.sort(key=lambda family: (-len(family), family))
        shown = then.names.text
        table = DataTable(
            {
                "family": [known[family[0]].removeprefix(SPACE).lower() for family in families],
                "forms": np.array([len(family) for family in families], np.int64),
                "texts": [" ".join(shown[id] for id in family) for family in families],
                "ids": [" ".join(map(str, history.numbers_of(family).tolist())) for family in families],
            }
        )
        more = len(known) - len(by_word)
        by_space = len(known) - len(_alike(known, lambda text: text.removeprefix(SPACE)))
        by_case = len(known) - len(_alike(known, str.lower))
        tokens = sum(map(len, families))
        size = len(history.vocabulary)
        share = tokens / max(1, size)
        sentences = (
            f"{tokens:,} of {count_text(size, 'token')}, {share:.1%}, differ from another token only in a leading "
            f"space or capital letters: {count_text(len(families), 'family', 'families')}.",
            f"With one token for each family, {count_text(more, 'token')} would be free, {more / max(1, size):.1%} of "
            f"the vocabulary. If only leading spaces were ignored, {by_space:,} would be free; if only capital letters "
            f"were ignored, {by_case:,}.",
        )
        return Answer(
            table,
            sentences,
            _chart(families, sentences[0]),
            facts={"tokens": tokens, "places": more},
            headings=HEADINGS,
        )


def _whole(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _alike(known: Mapping[int, str], form: Callable[[str], str]) -> list[list[int]]:
    ids_by_form: defaultdict[str, list[int]] = defaultdict(list)
    for id, text in known.items():
        ids_by_form[form(text)].append(id)
    return list(ids_by_form.values())


def _chart(families: Sequence[Sequence[int]], sentence: str) -> LineFigure:
    forms, times = np.unique([len(family) for family in families], return_counts=True)
    line = Line("", forms.astype(np.float64), times.astype(np.float64))
    title = "Twins: the number of families by their size."
    return LineFigure("twins", title, sentence, [line], "Tokens in the family", "Families", has_bars=True)
