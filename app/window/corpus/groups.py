"""What is shown and typed of a group of texts: its name and its weight, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.session.corpus_texts import CorpusText
from app.session.counts import Counted, Outcome
from app.session.groups import IN_NONE
from app.window.parts.wording import count_text, size_text
from bpe_core import Group, Mixture
from bpe_core.mixture import By, share_text, weight_of


@dataclass(frozen=True)
class GroupRow:
    """Stands above the texts of a group."""

    name: str

    @property
    def title(self) -> str:
        return self.name or IN_NONE


def rows_of(texts: Sequence[CorpusText]) -> list[GroupRow | CorpusText]:
    """The texts, each group under a row of its own; without groups only the texts."""
    rows: list[GroupRow | CorpusText] = []
    last = ""
    for text in texts:
        if text.group != last or not rows:
            last = text.group
            rows.append(GroupRow(last))
        rows.append(text)
    has_groups = any(text.group for text in texts)
    return rows if has_groups else list(texts)


def typed(row: GroupRow, mixture: Mixture) -> str:
    """As it is changed in place: `de = 70 %`."""
    return f"{row.title} = {_weight(mixture.of(row.name), mixture)}"


def understood(line: str, row: GroupRow, mixture: Mixture) -> tuple[str, Fraction, By]:
    """The name, the weight and what weights are, of a line that was typed; what is left out stays."""
    name, equals, weight = line.rpartition("=")
    name = (name if equals else line).strip()
    name = "" if name == IN_NONE else name or row.name
    if not equals or not weight.strip():
        return name, mixture.of(row.name).weight, mixture.by
    by: By = "times" if not weight.strip().endswith("%") else "bytes" if mixture.by == "times" else mixture.by
    return name, weight_of(weight.replace("×", "")), by


def weight_told(group: Group, mixture: Mixture, sizes: dict[str, int]) -> str:
    """The weight in a line; `sizes` of the groups tell how often a share makes one count."""
    parts = [_weight(group, mixture) if mixture.by == "times" else f"{_weight(group, mixture)} of {mixture.by}"]
    if mixture.by != "times" and group.weight and sizes.get(group.name):
        known = [sizes[one.name] / one.weight for one in mixture.groups if one.weight and sizes.get(one.name)]
        parts.append(f"{float(group.weight * max(known) / sizes[group.name]):.3g} ×")
    return " · ".join(parts)


def taken_told(group: Group) -> list[str]:
    """What is taken of it, where that is not everything."""
    parts, sample = [], group.sample
    if sample.first_bytes is not None:
        parts.append(f"first {size_text(sample.first_bytes)}")
    if sample.fraction < 1:
        draw = f", draw {sample.seed}" if sample.seed else ""
        parts.append(f"{share_text(sample.fraction)} of the {sample.of}{draw}")
    if group.unique:
        parts.append(f"no {group.unique} twice")
    return parts


def size_told(texts: Iterable[CorpusText], sizes: dict[int, int], outcomes: Iterable[Outcome | None]) -> str:
    """How much there is in a group."""
    numbers = [text.number for text in texts]
    counted = [one for one in outcomes if isinstance(one, Counted) and not one.is_of_group]
    in_folders = [one for one in counted if one.files > 1]
    files = len(numbers) + sum(one.files - 1 for one in in_folders)
    size = sum(sizes.get(number, 0) for number in numbers) + sum(one.size for one in in_folders)
    return f"{count_text(files, 'text')} · {size_text(size)}"


def _weight(group: Group, mixture: Mixture) -> str:
    if mixture.by != "times":
        return share_text(group.weight)
    number = group.weight
    return f"{number} ×" if number.denominator > 1 and 10**6 % number.denominator else f"{float(number):g} ×"
