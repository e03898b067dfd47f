"""The head of a file of counts. It says which texts were counted, how they were split, and which groups they belong to.

>>> head = CountsHead('{"pattern": "gpt2"}', "a fingerprint", ("de", "code"))
>>> CountsHead.from_json(head.to_json(), "counts") == head, head.column("count", "de")
(True, 'count in de')
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bpe_core.errors import CorpusError
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.text.reading.source import Source

KEY = b"bpe-explorer counts"
HEAD_NAME = "counts.json"  # in a folder whose files are parts of one table
ENDING = ".parquet"
WORD = "word"
COUNT = "count"
LINE_ENDS = "line ends"
PLACE = "place"


@dataclass(frozen=True)
class CountsHead:
    splitting: str  # the choices that decide which words a text has, as JSON
    sources: str  # a fingerprint of the texts that were counted
    groups: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """Return a fingerprint of the choices that decide how texts are split.

        Two tables of counts may be added together if their fingerprints are equal.
        """
        return hashlib.sha256(self.splitting.encode()).hexdigest()

    @property
    def names_groups(self) -> bool:
        """Return whether the file has a column of counts for each group, besides the column of the total."""
        return self.groups != ("",)

    def column(self, kind: str, group: str) -> str:
        return f"{kind} in {group}" if self.names_groups else kind

    def to_json(self) -> str:
        values: dict[str, Any] = {"splitting": json.loads(self.splitting), "splitting_hash": self.fingerprint}
        values |= {"sources": self.sources, "groups": list(self.groups)}
        return json.dumps(values, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes, name: str) -> CountsHead:
        values = json_of(text, f"{name}: the header of this file of counts cannot be read", CorpusError)
        with report_faults(
            f"{name}: the description of this file of counts cannot be read", CorpusError, "Count again."
        ):
            splitting = json.dumps(values["splitting"], ensure_ascii=False, sort_keys=True)
            head = cls(splitting, str(values["sources"]), tuple(map(str, values["groups"])))
            is_sound = head.fingerprint == values["splitting_hash"] and len(set(head.groups)) == len(head.groups) > 0
        if not is_sound:
            raise CorpusError(f"{name}: the header of this file of counts contradicts itself; count again.")
        return head


def sources_by_group(source: Source, field: str | None = None) -> list[Source]:
    """Return a source for each group of a file of counts.

    If `field` is the column with the counts of one group, return only the source of this group. If the source is
    not a file of counts, return only the source itself.
    """
    if not source.counted:
        return [source]
    head = CountsHead.from_json(source.counted, source.name)
    size = None if source.size is None else source.size // len(head.groups)
    said = replace(source, kind="parquet", size=size, is_word_list=True)
    columns = {group: head.column(COUNT, group) for group in head.groups}
    if not head.names_groups:
        return [replace(said, fields=(COUNT,), field=COUNT)]
    return [
        replace(said, name=f"{source.name} ({group})", group=group, fields=(*columns.values(),), field=column)
        for group, column in columns.items()
        if field not in columns.values() or field == column
    ]


def source_in_folder(name: str, sources: Sequence[Source], read: Callable[[Source], bytes]) -> Source | None:
    """Return one source for all files of a folder of counts. Return None if it is not a folder of counts.

    Raise CorpusError if parts of the counts are missing.
    """
    heads = [source for source in sources if _last(source) == HEAD_NAME]
    if not heads:
        return None
    head = CountsHead.from_json(read(heads[0]), heads[0].name)
    parts = tuple(source for source in sources if _last(source).endswith(ENDING))
    if not parts or _last(parts[-1]) != part_name(len(parts) - 1, len(parts)):
        raise CorpusError(f"{name} is a folder of counts with missing parts. Count the texts again.")
    size = sum(part.size or 0 for part in parts)
    kept = tuple(replace(part, kind="parquet", is_word_list=True) for part in parts)
    return Source(name, None, size, "parquet", counted=head.to_json(), parts=kept, is_word_list=True)


def part_name(number: int, parts: int) -> str:
    return f"part-{number:05}-of-{parts:05}{ENDING}"


def can_belong_to_counts(name: str) -> bool:
    """Return whether a file with this name can belong to a folder of counts."""
    return name == HEAD_NAME or re.fullmatch(rf"part-\d{{5,}}-of-\d{{5,}}{re.escape(ENDING)}", name) is not None


def _last(source: Source) -> str:
    return source.name.replace("\\", "/").rsplit("/", 1)[-1]
