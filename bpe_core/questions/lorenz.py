"""The question `lorenz`. It asks how evenly tokens are shared among languages, and draws Lorenz curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import at_sizes, sentences_parameter, sizes_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Line, LineFigure
from bpe_core.measures.benchmark import benchmark, gini, parallel_texts
from bpe_core.measures.measures import UNKNOWN_AT_MOST
from bpe_core.measures.token_overlap import lorenz_curve
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text
from resources import OWN_SENTENCES

TITLE = "Lorenz curves: the share of all tokens that the languages with the fewest tokens need."
X_TITLE = "Share of the languages"
HEADINGS = {"share_of_languages": "share of the languages", "share_of_tokens": "share of their tokens"}


@dataclass(frozen=True)
class Lorenz(Question):
    """Draw a curve that shows whether all languages need the same number of tokens for the same sentences.

    If they do, this Lorenz curve is a straight line. Otherwise it lies below this line. The Gini coefficient is
    twice the area between the line and the curve. Languages that a tokenizer cannot encode are left out.
    """

    about = "other tokenizers"
    asks = "Are languages served equally?"
    turn = 9
    studies = (1, 1_000)
    rests = True
    examples = """\
examples:
  bpe-explorer lorenz ours.csv theirs.tokenizer.json -o lorenz.pdf --paper
      Draw the curves of two tokenizers for the sentences of this program, with rows and a caption for a paper.

  bpe-explorer lorenz ours.csv --sizes 1000 8000 --parallel sentences/
      Compare two vocabulary sizes, for your own sentences: a file for each language (en.txt, de.txt).
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.lorenz({"ours": study}).columns["text"][:3]
        [None, 'zh', 'en']
    """

    parallel: str = sentences_parameter("our ten sentences")
    sizes: tuple[int, ...] = sizes_parameter()

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        measured = benchmark(dict(at_sizes(studies, self.sizes)), self.texts_of(studies), work=work)
        is_encoded = measured.of("unencoded_share") <= UNKNOWN_AT_MOST
        columns: dict[str, list[object]] = {}
        lines = [Line("equal shares", np.array([0.0, 1.0]), np.array([0.0, 1.0]), is_faint=True)]
        sentences = []
        for place, name in enumerate(measured.tokenizers):
            known = np.flatnonzero(is_encoded[place])
            if len(known) < 2:
                sentences.append(f"{name} encodes fewer than two of the languages, so it has no curve.")
                continue
            tokens = measured.of("tokens")[place, known]
            order = np.argsort(tokens, kind="stable")
            languages, of_tokens = lorenz_curve(tokens)
            rows: dict[str, Values] = {
                "tokenizer": [name] * len(languages),
                "text": [None, *(measured.texts[known[index]] for index in order.tolist())],
                "tokens": [0, *tokens[order].astype(int).tolist()],
                "share_of_languages": languages.tolist(),
                "share_of_tokens": of_tokens.tolist(),
            }
            for column, values in rows.items():
                columns.setdefault(column, []).extend(values)
            lines.append(Line(name, languages, of_tokens))
            left_out = (
                f" {len(measured.texts) - len(known):,} are left out." if len(known) < len(measured.texts) else ""
            )
            sentences.append(f"{name}: Gini {gini(tokens):.3f} over {count_text(len(known), 'language')}.{left_out}")
        if not columns:
            raise BpeError(
                "No tokenizer can encode two or more of the languages. Name other tokenizers, or other sentences."
            )
        figure = LineFigure(
            "lorenz", TITLE, sentences[0], lines, X_TITLE, "Share of the tokens", last_x=1.0, is_share=True
        )
        return Answer(DataTable(columns), tuple(sentences), figure, headings=HEADINGS)

    def texts_of(self, studies: Mapping[str, Study]) -> Mapping[str, Sequence[str]]:
        return parallel_texts(self.parallel or OWN_SENTENCES)
