"""The question `curves`. It asks how a measure of many runs changes with the vocabulary size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import drawn_lines
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import sweep_chart
from bpe_core.measures.measures import OF_MORPHEMES_IN_SWEEPS, OF_SWEEPS
from bpe_core.measures.morphemes import own_lists, read_morphemes
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts, names_of_groups
from bpe_core.support.progress import ALONE, Work
from bpe_core.sweep.overlay import overlay, samples_of
from bpe_core.sweep.results import table_of

BITS = "bits_per_byte"
NO_TEXTS = "Curves need texts to measure: name them with --corpus, or name held-out texts with --held-out."


@dataclass(frozen=True)
class Curves(Question):
    """Draw a measure of many tokenizers over the vocabulary size.

    Runs that differ only in their random samples are drawn as a single line with a band around it.
    """

    about = "other tokenizers"
    asks = "Which is best at which size?"
    turn = 3
    needs = "texts if known"
    studies = (1, 1_000)
    rests = True
    takes_moments = False  # curves show all steps
    examples = """\
examples:
  bpe-explorer curves book.bpex --runs --corpus book.txt --measure tokens_per_word -o curves.svg
  bpe-explorer curves ours.csv theirs.json --held-out folder/ -o all.svg
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.curves({"ours": study}, held_out=["the lowest"]).columns["bytes_per_token"].round(2).tolist()
        [1.0, 1.11, 1.25, 1.25, 1.25, 1.43, 1.67]
    """

    measure: str = parameter("bytes_per_token", help=f"the measure to draw: {', '.join(OF_SWEEPS)}", choices=OF_SWEEPS)
    held_out: Texts | None = parameter(
        None,
        help="measure on texts that no run has learned from; each named text has its own curves",
        metavar="FILE",
        title="Held-out texts",
    )
    list: str = parameter(
        "",
        help="a file of words with their morphemes, or en or de for a list of this program",
        metavar="LIST",
        path="file",
        offered=("en", "de"),
        title="Words with morphemes",
        in_words={"": "none", "en": "our English list", "de": "our German list"},
    )
    lines: tuple[str, ...] = drawn_lines()

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return self.held_out is None

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        own = next((study.texts for study in studies.values() if not study.inside.texts_are_own), None)
        texts = self.held_out or own
        if texts is None or (self.held_out is not None and own is not None):
            raise BpeError(NO_TEXTS)
        documents = self._documents(texts)
        learned = {name: study.inside.own_words for name, study in studies.items()} if self.measure == BITS else {}
        tables = [
            overlay(
                {name: study.history for name, study in studies.items()},
                of_text,
                text=text,
                learned={name: words for name, words in learned.items() if words is not None},
                is_held_out=self.held_out is not None,
                morphemes=self._morphemes(),
                samples=samples_of(
                    {name: (study.history.recipe, study.inside.sources) for name, study in studies.items()}
                ),
                work=work,
            )
            for text, of_text in documents.items()
        ]
        table = table_of(row for part in tables for row in part.records())
        figure = sweep_chart(table, self.measure, self.lines or None)
        texts_named = ("corpus",) if len(documents) > 1 else ()
        return Answer.drawn(table, figure, ("recipe", *texts_named, "vocabulary", self.measure))

    def _documents(self, texts: Texts) -> dict[str, tuple[str, ...]]:
        """Return a dictionary from the name of each held-out text to its documents.

        The only key is an empty string if no held-out texts are given, or if they have no names.
        """
        with texts.reading() as corpus:
            if self.held_out is not None and names_of_groups(texts):
                return {name: tuple(part.documents()) for name, part in corpus.parts().items()}
            return {"": tuple(corpus.documents())}

    def _morphemes(self) -> Mapping[str, tuple[str, ...]] | None:
        if self.measure not in OF_MORPHEMES_IN_SWEEPS:
            return None
        chosen = self.list or "en"
        own = own_lists()
        return own[chosen] if chosen in own else read_morphemes(chosen)
