"""The parameters that several questions share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bpe_core.asking.parameters import parameter
from bpe_core.history.history import History
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study, free_name
from resources import OWN_SENTENCES


def steps_parameter() -> Any:
    return parameter(None, help="ask about the table after its first K steps (default: all steps)", metavar="K")


def specials_parameter() -> Any:
    """Return a parameter that says whether a text is searched for special tokens.

    Its value becomes `allowed_special`.
    """
    return parameter(
        "",
        help="match all special tokens that occur in the text, or none (default: as the library of the file does)",
        choices=tuple(name for name in ALLOWED if name),
        title="Special tokens",
        in_words={"": "as its library does"},
        is_extra=True,
    )


def drawn_lines(what: str = "lines") -> Any:
    return parameter(
        (),
        help=f"draw only these {what}",
        metavar="NAME",
        title=f"Only these {what}",
        in_words={"": "all"},
        is_extra=True,
    )


def sentences_parameter(without: str) -> Any:
    """Return a parameter for a folder with the same sentences in several languages.

    `parallel_texts` reads the folder. If no folder is chosen, a form shows the text `without`.
    """
    return parameter(
        "",
        help=(
            "a folder with a file for each language; all files have the same sentences, one in each line (default: "
            "ten sentences of this program)"
        ),
        metavar="FOLDER",
        const=OWN_SENTENCES,
        path="folder",
        offered=(OWN_SENTENCES,),
        title="Parallel sentences",
        in_words={"": without, OWN_SENTENCES: "our ten sentences"},
    )


def sizes_parameter() -> Any:
    """Return a parameter for the vocabulary sizes that `at_sizes` uses."""
    return parameter(
        (),
        help="compare each tokenizer at these vocabulary sizes",
        metavar="N",
        title="Vocabulary sizes",
        example="300 400",
        is_extra=True,
    )


def power_parameter() -> Any:
    """Return a parameter for the order of the Rényi entropy. `checked_power` checks its value."""
    from bpe_core.measures.size_curves import USUAL_POWER  # imported late, as only questions about sizes need it

    return parameter(
        USUAL_POWER,
        help="the order of the Rényi entropy",
        metavar="ALPHA",
        title="Order of the Rényi entropy",
        is_extra=True,
    )


def at_sizes(studies: Mapping[str, Study], sizes: tuple[int, ...]) -> Iterator[tuple[str, tuple[History, int]]]:
    """Yield each tokenizer at each vocabulary size in `sizes`, as a pair (name, (history, step)).

    After `step` steps, the vocabulary has this size, or the nearest possible size. If `sizes` is empty, yield each
    tokenizer once, with its last step. All names are different. For example, `ours@1000` is the tokenizer `ours` when
    its vocabulary has 1000 tokens.
    """
    taken = set[str]()
    for name, study in studies.items():
        history = study.history
        for size in sizes or (None,):
            at = len(history) if size is None else history.step_of_size(size)
            called = free_name(name if size is None else f"{name}@{history.vocabulary_size_at(at)}", taken)
            taken.add(called)
            yield called, (history, at)
