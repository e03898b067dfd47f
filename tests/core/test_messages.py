"""Tests that messages for people are plain: the lists in `tests/messages.py` must follow a few rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import pytest

from tests.messages import RESOURCES, SURFACES, VALUE, Message, children_of, messages, messages_in

CODE = [surface for surface in SURFACES if surface not in RESOURCES]
# Words with a meaning that only this project knows, or word-by-word translations; and the words to use instead.
INSTEAD = {
    r"told|sought|aside|desk|furniture": "known, given, reported; in the background; buffers; parts of the window",
    r"anew": "again",
    r"sound|unsound": "valid, not valid",
    r"commonest": "most frequent",
    r"of (its|their|your) own": "separate, different, your",
    r"(?<!there )(is|are) no (?!longer)(?! )(?=\w+[.,:;]?$)": "is not a",
    r"parts? ways": "differ from",
    r"fell apart": "was split again",
    r"whoever": "the person who",
    r"lies? beside|beside it|behind (it|all|them|the last|--\w+)": "in the same folder; after",
    r"goes? another way|way leads off|flatters?|turn it round": "say what happens",
}
DIALECT = {re.compile(rf"\b({words})\b", re.IGNORECASE): instead for words, instead in INSTEAD.items()}
PRONOUN = re.compile(r"(It|They|He|She|Those|Such|Whose|The same)\b(?! (is|are) (identical|a pair))")


def offences(surface: str, pattern: re.Pattern[str]) -> list[str]:
    return [str(message) for message in messages(surface) if pattern.search(VALUE.sub("", message.text))]


@pytest.mark.parametrize("surface", CODE)
def test_messages_contain_no_word_of_the_old_house_dialect(surface: str) -> None:
    offences_by_word = {say: listed for pattern, say in DIALECT.items() if (listed := offences(surface, pattern))}
    assert offences_by_word == {}


def errors_as_sentences() -> Sequence[Message]:
    """Return the error messages that are whole sentences: they begin with a capital letter, not with a value."""
    return [message for message in messages("errors") if message.text[:1].isupper() and message.text.count(" ") > 2]


def test_error_messages_end_like_sentences() -> None:
    ends = re.compile(r"([.!?…}:)\]]|pip install \S+)\s*$")
    assert [str(error) for error in errors_as_sentences() if not ends.search(error.text)] == []


def test_error_messages_begin_with_a_noun_and_not_with_a_pronoun() -> None:
    assert [str(error) for error in errors_as_sentences() if PRONOUN.match(error.text)] == []


@pytest.mark.parametrize("surface", ["lessons", "manual"])
def test_messages_of_lessons_and_the_manual_are_listed_with_their_lines(surface: str) -> None:
    assert len({message.path for message in messages(surface)}) > 10


@pytest.mark.parametrize("surface", SURFACES)
def test_no_list_of_messages_contains_lines_of_programs(surface: str) -> None:
    program = re.compile(r"^\s*(>>>|bpe-explorer |SELECT |\w+ = [\[{\"])|</div>|\bcase .* in$|;\s*\}$")
    assert [str(message) for message in messages(surface) if program.search(message.text)] == []


def collect_messages(source: str) -> dict[str, list[str]]:
    tree = ast.parse(source)
    errors = children_of("BpeError", {"app/example.py": tree})
    messages_by_surface: dict[str, list[str]] = {}
    for surface, message in messages_in("app/example.py", tree, errors):
        messages_by_surface.setdefault(surface, []).append(message.text)
    return messages_by_surface


def test_collected_messages_are_whole_sentences_with_the_names_of_their_values() -> None:
    error = 'class Wrong(BpeError):\n    """An error."""\n'
    source = error + 'label = "Two words"\nraise Wrong(f"No {kind} is" + f" in {place}.")\n'
    assert collect_messages(source) == {"window": ["Two words"], "errors": ["No {kind} is in {place}."]}


def test_collecting_messages_leaves_out_docstrings_patterns_and_single_words() -> None:
    source = '"""A module here."""\nimport re\nkey = "word"\npattern = re.compile("two words")\n'
    assert collect_messages(source) == {}


def test_collecting_messages_keeps_the_sentences_around_an_example() -> None:
    source = 'text = """Learn merges\n    from texts.\n\n    examples:\n      bpe-explorer train a.txt\n    """\n'
    assert collect_messages(source) == {"window": ["Learn merges from texts."]}


def test_collecting_messages_leaves_out_style_sheets_and_markup() -> None:
    assert (
        collect_messages("style = 'QLabel { color: palette(text); }'\npage = '<div class=\"a b\">two words</div>'\n")
        == {}
    )


def test_collecting_messages_leaves_out_lists_of_names() -> None:
    assert collect_messages('names = "gpt two llama three".split()\n') == {}


def test_collecting_messages_includes_the_docstring_of_a_question() -> None:
    assert collect_messages('class Why(Question):\n    """Show why."""\n    x = 1\n') == {"window": ["Show why."]}
