"""The pins: a record of the ids that a tokenizer gives to difficult texts.

A later comparison shows which ids have changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from bpe_core.errors import BpeError, FormatError, plain, throwing_exceptions
from bpe_core.formats import FORMATS
from bpe_core.formats.all_formats import content_of, files_beside, open_table
from bpe_core.formats.base import Format, Peer
from bpe_core.history.token_texts import quoted
from bpe_core.studies.study import Study
from bpe_core.support.atomic import write_atomically
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.support.small_files import read_small_file
from bpe_core.verification.sampling import CheckedTokenizer, answer_of

KIND = "bpe-explorer pins"
TEXTS = 200  # the most texts that are pinned
NEAR = 4  # ids shown for a difference
OURS = "bpe-explorer"

Answers = dict[str, list[list[int]]]  # the ids of all texts, by the program that gave them


@dataclass(frozen=True)
class Pins:
    table: str  # the path of the file
    digest: str  # the checksum of the file
    versions: dict[str, str]  # the versions of all programs that gave ids
    texts: list[str]
    ids: Answers
    kind: str = KIND
    files: Answers = field(default_factory=dict)  # the ids by each other tokenizer file of the folder, by its name

    @classmethod
    def of(cls, study: Study, others: Mapping[str, Study] = MappingProxyType({})) -> Pins:
        """Return the pins of a tokenizer.

        `others` is a dictionary from the names of other files in the same folder to their tokenizers.
        """
        format = _format(study)
        texts = list(islice(CheckedTokenizer(study.history, format).samples(), TEXTS))
        ids = _answers(study, format, texts)
        files = {name: _own_answers(other, texts) for name, other in others.items()}
        return cls(study.name, _digest(study.name), _versions(ids), texts, ids, files=files)

    @classmethod
    def read(cls, path: str) -> Pins:
        """Read pins from a file. In the file, the path of the tokenizer is relative to the folder of the pins."""
        advice = f"`bpe-explorer pin TABLE -o {path}` writes pins."
        data = read_small_file(path, "the pins", FormatError)
        with report_faults(f"{path} holds no pins", FormatError, advice):
            pins = cls(**json_of(data, f"{path} holds no pins"))
            pinned = {len(pins.texts), *(len(ids) for ids in (*pins.ids.values(), *pins.files.values()))}
            said = [pins.table, pins.digest, *pins.texts, *pins.versions.keys(), *pins.versions.values()]
            by_all = [*pins.ids.values(), *pins.files.values()]
            lists = [ids for answers in by_all for ids in (answers, *answers)]
            numbers = [id for answers in by_all for ids in answers for id in ids]
            kinds = {type(ids) for ids in lists} <= {list} and {type(id) for id in numbers} <= {int}
            is_sound = pins.kind == KIND and len(pinned) == 1 and kinds
            if not is_sound or not all(isinstance(text, str) for text in said):
                raise ValueError("its entries are incomplete or of another kind")
        return cls(**{**asdict(pins), "table": str(Path(path).parent / pins.table)})

    def write(self, path: Path) -> None:
        beside = os.path.relpath(self.table, path.parent) if self.table else ""
        with write_atomically(path) as file:
            content = {**asdict(self), "table": beside}
            text = json.dumps(content, ensure_ascii=False, indent=1)
            file.write(text.encode(errors="backslashreplace") + b"\n")

    def differences(self, study: Study) -> list[str]:
        """Return a sentence for each text whose ids have changed since it was pinned.

        Ids are compared for each program that gave ids: this program, and the library of the file's format. There is
        also a sentence for each program that gives no ids now, and for each pinned file that cannot be opened.
        """
        ids = _answers(study, _format(study), self.texts)
        now = _versions(ids)
        is_same = "the file is the same" if self.digest == _digest(study.name) else "the file has changed"
        missing = [name for name in self.ids if name not in ids]
        sentences = [f"{name} gave ids when the file was pinned, and gives no ids now ({is_same})." for name in missing]
        for name, pinned in self.ids.items():
            versions = f"{name} {now.get(name)} (pinned with {self.versions.get(name)})"
            for text, before, after in zip(self.texts, pinned, ids.get(name, pinned), strict=True):
                if before != after:
                    sentences.append(f"{quoted(text)} {_change(before, after, versions)}; {is_same}.")
        return [plain(sentence) for sentence in (*sentences, *self._differences_of_files())]

    def _differences_of_files(self) -> Iterator[str]:
        """Compare the pinned ids with the ids that the tokenizer files beside this table give now.

        Yield a sentence for each text whose ids have changed, and for each file that cannot be opened.
        """
        for name, pinned in self.files.items():
            try:
                opened = open_table(Path(self.table).parent / name)
            except BpeError as error:
                yield f"{name} was pinned, but cannot be opened now: {error}"
                continue
            study = Study(opened.history, name=name, format=opened.format)
            for text, before, after in zip(self.texts, pinned, _own_answers(study, self.texts), strict=True):
                if before != after:
                    yield f"{quoted(text)} {_change(before, after, name)}."


def _change(before: Sequence[int], after: Sequence[int], by: str) -> str:
    alike = zip(before, after, strict=False)
    place = next((i for i, (id, other) in enumerate(alike) if id != other), min(len(before), len(after)))
    here = slice(place, place + NEAR)
    ids = f"{list(after[here])} instead of {list(before[here])}"
    return f"is split differently by {by}: its ids from token {place + 1:,} on are {ids}"


def _format(study: Study) -> Format:
    return FORMATS.holding(study.format)


def _own_answers(study: Study, texts: list[str]) -> list[list[int]]:
    """Encode each text with the study's tokenizer in this program, and return the ids."""
    return list(CheckedTokenizer(study.history, _format(study)).answers(texts))


def _answers(study: Study, format: Format, texts: list[str]) -> Answers:
    ids: Answers = {OURS: _own_answers(study, texts)}
    if format.peer_name and study.format and Path(study.name).is_file():
        peer = _peer(study, format)
        if peer:
            given = [answer_of(peer, text) for text in texts]
            ids[format.peer_name] = [answer if isinstance(answer, list) else [] for answer in given]
    return ids


def _peer(study: Study, format: Format) -> Peer | None:
    """Load a tokenizer's file with the library of its format. Return None if the library refuses the file.

    The stored ids (pins) then come only from this program. The commands `bench` and `import` report the refusal.
    """
    try:
        with throwing_exceptions():
            return format.peer(content_of(study.name), study.history, study.name, files_beside(Path(study.name)))
    except Exception:  # other libraries raise any errors
        return None


def _versions(ids: Answers) -> dict[str, str]:
    return {name: metadata.version(name) for name in ids}


def _digest(path: str) -> str:
    return hashlib.sha256(content_of(path)).hexdigest() if Path(path).is_file() else ""
