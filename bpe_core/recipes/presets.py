"""The presets, which are recipes with names. Each method adds its own presets and a line that explains each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bpe_core.methods.facts import Preset
from bpe_core.methods.registry import METHODS


class Presets(Mapping[str, Preset]):
    """A mapping from name to preset, for the presets of all methods. The presets of plug-ins come last."""

    def __getitem__(self, name: str) -> Preset:
        for method in METHODS.values():
            if name in method.presets:
                return method.presets[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        for method in METHODS.values():
            yield from method.presets

    def __len__(self) -> int:
        return sum(1 for _ in self)


PRESETS = Presets()
