"""The question that measures how well the splits of tokenizers agree with the borders of morphemes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import at_sizes, sizes_parameter
from bpe_core.figures.from_table import dots_chart
from bpe_core.measures.measures import MEASURES, OF_MORPHEMES
from bpe_core.measures.morphemes import Lists, morpheme_agreement, own_lists, read_morphemes
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work

DRAWN = ("f1", "precision", "recall", "morph_score", "share_whole", "share_alike", "words", "borders", "cuts", "hits")
EACH_ONCE = "Each word is split as if a space came before it, and counts once, even if it is frequent."
COLUMNS = "\n".join(f"  {name:<14} {MEASURES[name].meaning}" for name in ("words", *OF_MORPHEMES))


@dataclass(frozen=True)
class Morphemes(Question):
    """Measure how well the splits of tokenizers agree with the borders of morphemes.

    A word is split as if a space came before it, and counts once. More agreement is not always better: a frequent word
    should be one token, even if it has several morphemes.
    """

    about = "the vocabulary"
    asks = "Are words split at their parts?"
    turn = 7
    studies = (1, 1_000)
    rests = True
    examples = f"""\
examples:
  bpe-explorer morphemes ours.csv theirs.tokenizer.json
      Use the program's lists of English and German words.

  bpe-explorer morphemes ours.csv --sizes 1000 2000 4000 --list turkish.tsv -o agreement.csv
      Use your own list with one word in each line: the word, a tab, and its morphemes (unhappy<TAB>un happy). Tables of
      MorphScore (full_word, pt1, rest) are read as they are.

columns:
{COLUMNS}
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.morphemes({"ours": study}).columns["f1"].round(2).tolist()
        [0.3, 0.29]
    """

    list: tuple[str, ...] = parameter(
        (),
        help="files of words with their morphemes (default: the lists of this program)",
        metavar="LIST",
        path="file",
        title="Words with morphemes",
        in_words={"": "the lists of this program"},
    )
    sizes: tuple[int, ...] = sizes_parameter()
    measure: str = parameter("f1", help=f"the measure to draw: {', '.join(DRAWN)}", choices=DRAWN)

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        lists = self._lists()
        tokenizers = dict(at_sizes(studies, self.sizes))
        table = morpheme_agreement(tokenizers, lists, work=work)
        listed = ("tokenizer", "text", "words", *(name for name in OF_MORPHEMES if name != "hits"))
        return Answer(table, (EACH_ONCE,), dots_chart(table, self.measure), listed)

    def texts_of(self, studies: Mapping[str, Study]) -> Mapping[str, Sequence[str]]:
        return {name: [f" {' '.join(words)}"] for name, words in self._lists().items()}

    def _lists(self) -> Lists:
        return {path: read_morphemes(path) for path in self.list} if self.list else own_lists()
