"""The parameters that several questions have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bpe_core.asking.parameters import parameter
from bpe_core.history.history import History
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study, free_name
from resources import OWN_SENTENCES


def after_steps() -> Any:
    return parameter(None, help="after the first K steps (else after all)", metavar="K")


def spelled_specials() -> Any:
    """Declare the parameter for spelled special tokens, which is passed on as `allowed_special`."""
    return parameter(
        "",
        help="special tokens that the text spells are all matched, or none (else as the file's library does it)",
        choices=tuple(name for name in ALLOWED if name),
        title="Special tokens",
    )


def drawn_lines(what: str = "lines") -> Any:
    return parameter((), help=f"draw only these {what}", metavar="NAME")


def same_sentences() -> Any:
    """Declare the parameter that names the same sentences in several languages, as `parallel_texts` reads them."""
    return parameter(
        "",
        help="a folder of the same sentences, a file a language, a line a sentence; without a folder our own ten",
        metavar="FOLDER",
        const=OWN_SENTENCES,
        path="folder",
        offered=(OWN_SENTENCES,),
    )


def several_sizes() -> Any:
    """Declare the parameter with the sizes for `at_sizes`."""
    return parameter((), help="each at these sizes of its vocabulary", metavar="N")


def at_sizes(studies: Mapping[str, Study], sizes: tuple[int, ...]) -> Iterator[tuple[str, tuple[History, int]]]:
    """Yield each tokenizer after its last step, or at each of these sizes, under a separate name."""
    taken = set[str]()
    for name, study in studies.items():
        history = study.history
        for size in sizes or (None,):
            at = len(history) if size is None else history.step_of_size(size)
            called = free_name(name if size is None else f"{name}@{history.vocabulary_size_at(at)}", taken)
            taken.add(called)
            yield called, (history, at)
