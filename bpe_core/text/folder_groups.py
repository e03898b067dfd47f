"""Groups of texts from the folders they lie in."""

from __future__ import annotations

from pathlib import Path

from bpe_core.errors import CorpusError


def folders_in(folder: Path) -> dict[str, list[Path]]:
    """A group for each folder directly in this one, and one by its own name for the files beside them."""
    try:
        listed = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise CorpusError(f"{folder} cannot be looked through: {error.strerror or error}.") from error
    groups = {path.name: [path] for path in listed if path.is_dir()}
    if not groups:
        raise CorpusError(f"There are no folders in {folder}, so no groups can be made of it.")
    beside = [path for path in listed if path.is_file()]
    if beside:
        groups.setdefault(folder.resolve().name, []).extend(beside)
    return groups
