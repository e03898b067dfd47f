"""Tests of the change notes: each note has the right form, and a release moves the notes below its version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.change_notes import CHANGES, NOTES, note_files, read_note, with_notes

PAGE = (
    "# Changes\n\nWhat is new.\n\n## 0.2.0\n\n"
    "This version writes sessions of version 9 and manifests of version 3.\n\n- **Old.** A note.\n"
)


def test_every_change_note_has_a_title_and_one_paragraph() -> None:
    assert (NOTES / "README.md").exists()
    assert all(read_note(path) for path in note_files(NOTES))


@pytest.mark.parametrize("text", ["No title.", "**Title.** One paragraph.\n\nAnother paragraph.", ""])
def test_a_change_note_without_a_title_or_with_two_paragraphs_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"note\.md"):
        read_note(path)


def test_change_notes_are_put_before_the_older_notes_of_the_same_version() -> None:
    page = with_notes(PAGE, "0.2.0", ["**First.** A sentence.", "**Second.** A sentence."])
    assert page == PAGE.replace("- **Old", "- **First.** A sentence.\n- **Second.** A sentence.\n- **Old")


def test_change_notes_of_a_new_version_get_a_heading_above_the_older_versions() -> None:
    page = with_notes(PAGE, "0.3.0", ["**First.** A sentence."])
    heads = [row for row in page.splitlines() if row.startswith("## ")]
    assert heads == ["## 0.3.0", "## 0.2.0"]
    assert page.index("- **First.**") < page.index("## 0.2.0") < page.index("- **Old.**")
    assert page.endswith(PAGE[PAGE.index("## 0.2.0") :])


def test_long_change_notes_are_wrapped_and_the_rest_of_the_page_stays_unchanged() -> None:
    changes = CHANGES.read_text("utf-8")
    version = changes.partition("\n## ")[2].split()[0]
    page = with_notes(changes, version, ["**Long.** " + "word " * 60])
    added = [row for row in page.splitlines() if row not in changes.splitlines()]
    assert all(len(row) <= 128 for row in added)
    kept = [row for row in page.splitlines() if row not in added]
    assert kept == changes.splitlines()
