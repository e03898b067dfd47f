"""The change notes, which a release moves from `.github/changes` to the manual's page of changes.

This command moves all notes to the version that `pyproject.toml` names, and removes their files:

    python -m tests.change_notes

The README beside the notes says how to write a note.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path

from bpe_core.command_line import manifest
from bpe_core.session_file import schema
from tests.shared import ROOT

NOTES = ROOT / ".github" / "changes"
CHANGES = ROOT / "resources" / "manual" / "changes.md"
ROW_LENGTH = 128
TITLE = re.compile(r"\*\*[^*]+\.\*\* \S")


def note_files(folder: Path) -> list[Path]:
    """Return the files of the notes in a folder, sorted by name, without the README."""
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def read_note(path: Path) -> str:
    """Return the paragraph of a note as a single line. Raise ValueError if the file is not a valid note."""
    text = path.read_text("utf-8").strip()
    if not TITLE.match(text):
        raise ValueError(f"{path.name} does not begin with a title such as **Paste ids.** and a sentence.")
    if "\n\n" in text:
        raise ValueError(f"{path.name} has several paragraphs. Write one paragraph.")
    return " ".join(text.split())


def with_notes(changes: str, version: str, notes: list[str]) -> str:
    """Return the change log with notes added below the heading of a version.

    If the change log has no such heading, add it before all others. The new section states which versions of
    sessions and manifests the program writes.
    """
    head = f"## {version}\n"
    if head not in changes:
        versions = (
            f"This version writes sessions of version {schema.VERSION} and manifests of version {manifest.VERSION}. It "
            "also reads older sessions and manifests."
        )
        before, _, older = changes.partition("\n## ")
        changes = f"{before}\n{head}\n{versions}\n\n## {older}"
    before, _, after = changes.partition(head)
    introduction, blank, rest = after.partition("\n\n- ")
    if "\n## " in introduction or not blank:  # the version has no notes yet
        introduction, _, rest = after.partition("\n\n## ")
        rest = f"\n## {rest}"
    else:
        rest = f"- {rest}"
    rows = "".join(
        textwrap.fill(note, ROW_LENGTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n"
        for note in notes
    )
    return f"{before}{head}{introduction}\n\n{rows}{rest}"


def main() -> None:
    files = note_files(NOTES)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    notes = [read_note(path) for path in files]
    if notes:
        CHANGES.write_text(with_notes(CHANGES.read_text("utf-8"), version, notes), "utf-8")
    for path in files:
        path.unlink()


if __name__ == "__main__":
    main()
