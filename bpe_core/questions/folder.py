"""The question `folder`. It asks whether all tokenizer files of a folder give the same tokens and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.asking import NONE, Answer, Question, parameter
from bpe_core.delivery.one_folder import (
    STAGES,
    FileDifferences,
    FolderFile,
    about_sidecars,
    differences,
    files_in,
    opened_files,
)
from bpe_core.errors import FormatError
from bpe_core.history.token_texts import quoted
from bpe_core.studies.checksums import file_in_words
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

LISTED = ("file", "loaded_by", "tokens", "merges", "specials", "differing_texts", "first_difference")
MOST_SAID = 3  # differences of a kind that are said; the JSON has all


@dataclass(frozen=True)
class Folder(Question):
    """Compare the tokenizer files in the folder of a model, and check that all loaders get the same ids.

    The file that transformers loads comes first. Each other file is compared with this file: its tokens, merges
    and special tokens, and the ids of texts that are hard to split. The configuration files are also compared.
    """

    about = "other tokenizers"
    asks = "Do the files of a model agree?"
    turn = 7
    studies = NONE
    examples = """\
examples:
  bpe-explorer folder model/
      Lists the files with the library that loads each, and says where two files differ. The exit code is 3 if they
      differ, for the checks of a project.

  bpe-explorer folder hf:openai-community/gpt2 --json
      Compare the files of a folder in the Hugging Face cache.
"""

    in_python = """
        >>> import bpe_core as bpe
        >>> from tempfile import TemporaryDirectory
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> with TemporaryDirectory() as folder:
        ...     written = study.save(f"{folder}/tokenizer.json")
        ...     answer = bpe.folder(folder)
        >>> answer.sentences[0]
        'tokenizer.json is the only tokenizer file of this folder.'
    """

    path: str = parameter(
        "",
        help="the folder of a model, or hf:owner/name",
        metavar="PATH",
        positional=True,
        path="folder",
        title="Folder of a model",
        in_words={"": "none yet"},
    )

    def cited(self) -> Sequence[str]:
        """Return the compared files with their checksums."""
        return [f"File {file_in_words(path)}" for path in files_in(self.path)[1]]

    def answer(self, study: Any = None, work: Work = ALONE) -> Answer:
        folder, paths = files_in(self.path)
        files, refused = opened_files(paths, work)
        if not files:
            raise FormatError(refused[0])
        first = files[0]
        by_file = {other.name: differences(first, other, work) for other in files[1:]}
        sidecars = about_sidecars(folder, first)
        differs = bool(sidecars or refused) or not all(difference.is_none for difference in by_file.values())
        sentences = [*_sentences(first, files, by_file), *(f"{sidecar}." for sidecar in sidecars), *refused]
        facts = {
            "files": {name: _facts(difference) for name, difference in by_file.items()},
            "configuration": sidecars,
            "refused": refused,
            "llama_cpp_converter": first.llama_cpp_converter_name,
            **_llama_cpp_facts(first.llama_cpp_differences),
        }
        return Answer(_table(files, by_file), tuple(sentences), None, LISTED, facts=facts, differs=differs)


def _table(files: list[FolderFile], by_file: dict[str, FileDifferences]) -> DataTable:
    compared = [by_file.get(file.name, FileDifferences()) for file in files]
    return DataTable(
        {
            "file": [file.name for file in files],
            "format": [file.opened.format for file in files],
            "loaded_by": [file.library or "this program" for file in files],
            "tokens": [len(file.ids) for file in files],
            "merges": [len(file.merges) for file in files],
            "specials": [len(file.specials) for file in files],
            "first_merge": [difference.first_merge for difference in compared],
            "compared_texts": [difference.texts_compared or None for difference in compared],
            "differing_texts": [
                len(difference.texts) if difference.texts_compared else None for difference in compared
            ],
            "first_difference": [difference.texts[0].stage if difference.texts else "" for difference in compared],
        }
    )


def _sentences(first: FolderFile, files: list[FolderFile], by_file: dict[str, FileDifferences]) -> Iterator[str]:
    if len(files) == 1:
        yield f"{first.name} is the only tokenizer file of this folder."
    else:
        yield (
            f"Transformers loads {first.name}. "
            f"{count_text(len(by_file), 'other file is', 'other files are')} compared with this file."
        )
    for name, difference in by_file.items():
        if difference.is_none:
            same = f"tokens, special tokens, and the ids of {count_text(difference.texts_compared, 'text')}"
            yield f"{name} agrees with {first.name}: {same}."
            continue
        yield from (f"{name}: {sentence}." for sentence in (*difference.tokens, *difference.specials)[:MOST_SAID])
        if difference.first_merge is not None:
            yield f"{name}: the merges differ from merge {difference.first_merge:,} on."
        stages = Counter(text.stage for text in difference.texts)
        for stage, times in stages.most_common(MOST_SAID):
            example = next(text.text for text in difference.texts if text.stage == stage)
            where = f"in {times:,} of {count_text(difference.texts_compared, 'text')}"
            yield f"{name}: {where} {STAGES[stage]}, such as {quoted(example)}."
    yield from _about_llama_cpp(first)


def _about_llama_cpp(file: FolderFile) -> Iterator[str]:
    if file.llama_cpp_converter_name is not None:
        yield (
            f"The converter of llama.cpp knows the ids that {file.name} gives to its test text, and writes the "
            f"pre-tokenizer {file.llama_cpp_converter_name}."
        )
    differences = file.llama_cpp_differences
    names = [name for name, texts in differences.items() if not texts]
    if names:
        others = f" {count_text(len(names) - 1, 'other name means', 'other names mean')} the same." if names[1:] else ""
        yield f"In llama.cpp the way in which {file.name} splits texts into words is called {names[0]}.{others}"
    elif differences:
        names = _closest(differences)
        texts = differences[names[0]]
        are = "is" if len(names) == 1 else "are"
        differ = count_text(len(texts), "difficult text is", "difficult texts are")
        yield (
            f"No pre-tokenizer of llama.cpp splits texts into the same words as {file.name}. The closest {are} "
            f"{', '.join(names[:MOST_SAID])}: {differ} split differently, such as {quoted(texts[0])}."
        )


def _closest(differences: dict[str, list[str]]) -> list[str]:
    """Return the names of the pre-tokenizers with the fewest differently split texts."""
    least = min(map(len, differences.values()), default=0)
    return [name for name, texts in differences.items() if len(texts) == least]


def _llama_cpp_facts(differences: dict[str, list[str]]) -> dict[str, object]:
    names = [name for name, texts in differences.items() if not texts]
    return {
        "llama_cpp_pre_tokenizer": names[0] if names else None,
        "llama_cpp_equal_names": names[1:],
        "llama_cpp_closest": [] if names else _closest(differences),
    }


def _facts(differences: FileDifferences) -> dict[str, object]:
    return {
        "tokens": list(differences.tokens),
        "specials": list(differences.specials),
        "first_merge": differences.first_merge,
        "texts": [{"text": text.text, "stage": text.stage} for text in differences.texts],
    }
