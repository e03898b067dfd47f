"""Tests of the manual.

Commands print the output shown, generated parts agree with the code, and links lead to pages.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.window.manual.book import page_names, place_of, search, sections, slug
from app.window.pages import PAGES
from app.window.room_plan import DOCKS, ROOMS
from bpe_core.command_line.main import run
from bpe_core.figures.png import chunks_of
from tests.manual_pages import (
    GALLERY,
    MANUAL,
    Recorder,
    Undocumented,
    draw_gallery,
    generate,
    own_docstring,
    pages,
    pictures_in,
)
from tests.shared import ROOT

BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUN_ELSEWHERE = ("README.md", "gallery.md", "speed.md", "python.md", "developers.md", "commands.md")
LARGEST_GALLERY, LARGEST_FILM = 600_000, 1_000_000  # bytes
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def names_of(files: list[Path]) -> list[str]:
    return [file.name for file in files]


@pytest.mark.parametrize("page", [page for page in names_of(pages()) if page not in RUN_ELSEWHERE])
def test_commands_in_the_manual_print_the_output_shown_there(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples").symlink_to(ROOT / "resources" / "samples")
    printed = ""
    for kind, block in BLOCK.findall((MANUAL / page).read_text(encoding="utf-8")):
        if kind == "text":
            assert printed.strip() == block.strip()
        elif "." in kind:  # the content of a file of that name
            (tmp_path / kind).write_text(block, encoding="utf-8")
        elif kind == "sh":
            for line in block.splitlines():
                assert line.startswith("bpe-explorer "), line
                if line.startswith("bpe-explorer film"):
                    pytest.importorskip("PIL", reason="the package Pillow is not installed")
                assert run(shlex.split(line, comments=True)[1:]) in (0, 3), (
                    line,
                    capsys.readouterr().err,
                )  # 3: differs
            printed = capsys.readouterr().out


@pytest.mark.parametrize("page", names_of(pages()))
def test_generated_parts_of_the_manual_agree_with_the_code(page: str) -> None:
    text = (MANUAL / page).read_text(encoding="utf-8")
    assert generate(text) == text, "python -m tests.manual_pages writes it anew"


def test_generating_the_manual_refuses_options_and_functions_without_help() -> None:
    with pytest.raises(Undocumented):
        Recorder().add_argument("--new")
    with pytest.raises(Undocumented):
        own_docstring("bpe.new", lambda: None)


def test_the_commands_in_the_gallery_draw_the_pictures_shown_there(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="the package Pillow is not installed")
    (tmp_path / "samples").symlink_to(ROOT / "resources" / "samples")
    draw_gallery(tmp_path)
    drawn, kept = pictures_in(tmp_path), pictures_in(GALLERY)
    assert [*map(_content, drawn)] == [*map(_content, kept)], "python -m tests.manual_pages"
    assert len(kept) == 15
    drawings = [path.stat().st_size for path in kept if path.suffix == ".svg"]
    assert sum(drawings) < LARGEST_GALLERY
    assert (GALLERY / "film.png").stat().st_size < LARGEST_FILM


def _content(path: Path) -> tuple[str, list[bytes]]:
    """Return the name of a picture and its content, or the name of a film, its size and its number of frames.

    The fonts in films differ between machines, so their content is not compared.
    """
    if path.suffix == ".svg":
        return path.name, [path.read_bytes()]
    return path.name, [data for kind, data in chunks_of(path.read_bytes()) if kind in (b"IHDR", b"acTL")]


@pytest.mark.parametrize("file", [ROOT / "README.md", *pages()], ids=lambda file: file.parent.name + file.name)
def test_links_in_the_manual_lead_to_existing_files_and_headings(file: Path) -> None:
    for target, anchor in LINK.findall(file.read_text(encoding="utf-8")):
        there = file.parent / target if target else file
        assert there.exists(), target
        headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in map(slug, headings), (target, anchor)


def test_every_page_of_the_manual_is_in_its_table_of_contents() -> None:
    assert {*names_of(pages())} <= {*page_names()}


@pytest.mark.parametrize("title", [*(row.title for row in PAGES), *(row.title for row in (*DOCKS, *ROOMS))])
def test_each_page_and_panel_of_the_window_is_described_in_the_manual(title: str) -> None:
    assert place_of([title]) != "README.md"


def test_the_search_in_the_manual_finds_words_anywhere_and_lists_titles_first() -> None:
    results = search("tie RULE")
    assert results
    assert all("tie" in f"{result.title}{result.text}".casefold() for result in results)
    assert search("gage's compressor")[0].title == "Gage's compressor"
    assert search("xyzzy") == []
    assert len({section.place for section in sections()}) > 100


def test_the_list_of_folders_in_the_manual_names_exactly_the_existing_folders() -> None:
    page = (MANUAL / "developers.md").read_text(encoding="utf-8")
    house = page.partition("```\n")[2].partition("```")[0]
    named, above = list[Path](), {-1: ROOT}  # the folder that lines with more indent are in
    for line in house.splitlines():
        indent = len(line) - len(line.lstrip())
        inside = above[max(known for known in above if known < indent)]
        places = [inside / name for name in line.strip().partition("  ")[0].split(", ")]
        above = {known: place for known, place in above.items() if known < indent} | {indent: places[-1]}
        named += places
    assert [place for place in named if not place.exists()] == []
    parents = (ROOT / "app", ROOT / "app" / "window", ROOT / "bpe_core")
    assert {path.parent for parent in parents for path in parent.glob("*/__init__.py")} <= set(named)
