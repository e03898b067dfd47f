"""Tests that the messages for people, as listed by `tests/messages.py`, are in plain language."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from itertools import pairwise

import pytest

from bpe_core.support.wording import count_sentence
from tests.messages import RESOURCES, SURFACES, VALUE, Message, children_of, messages, messages_in
from tests.shared import ROOT

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

THINGS = (
    r"blocks|boundaries|branches|bytes|candidates|changes|characters|charts|choices|codes|columns|"
    r"combinations|copies|cores|days|differences|digits|documents|draws|edges|embeddings|entries|"
    r"families|fields|files|folders|frames|groups|hours|ids|items|kinds|languages|lessons|letters|"
    r"levels|lines|merges|minutes|models|nodes|numbers|occurrences|operations|pairs|parameters|parts|"
    r"patterns|pieces|places|plans|points|pretokens|processes|queries|questions|ranks|recipes|records|"
    r"results|rounds|rows|runs|samples|scores|scripts|seconds|seeds|sentences|sets|shards|sizes|"
    r"sources|spaces|steps|students|supermerges|symbols|tables|texts|threads|ties|times|tokenizers|"
    r"tokens|trainers|turns|unigrams|vocabularies|ways|windows|words"
)
NO_ADJECTIVES = "of|in|at|by|to|from|for|and|or|with|is|are|on|as|than|the"
# A number, then at most one adjective, and the noun for several things.
NUMBER_OF_THINGS = re.compile(rf" (?:(?!(?:{NO_ADJECTIVES}) )[a-z-]+ )?({THINGS})\b(?! (another|that) pair)")
IS_CONSTANT = re.compile(r"([a-z_.]+\.)?[A-Z_]+( // \d+|\[.*\])?")
STANDS_ALONE = "bpe_core/reference"  # these modules can be copied, and import nothing of the program


def offences(surface: str, pattern: re.Pattern[str]) -> list[str]:
    return [str(message) for message in messages(surface) if pattern.search(VALUE.sub("", message.text))]


@pytest.mark.parametrize("surface", CODE)
def test_messages_contain_no_word_of_the_former_project_jargon(surface: str) -> None:
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
def test_no_list_of_messages_contains_program_code(surface: str) -> None:
    program = re.compile(r"^\s*(>>>|bpe-explorer |SELECT |\w+ = [\[{\"])|</div>|\bcase .* in$|;\s*\}$")
    assert [str(message) for message in messages(surface) if program.search(message.text)] == []


def collect_messages(source: str, names: Collection[str] = ()) -> dict[str, list[str]]:
    tree = ast.parse(source)
    errors = children_of("BpeError", {"app/example.py": tree})
    messages_by_surface: dict[str, list[str]] = {}
    for surface, message in messages_in("app/example.py", tree, errors, names):
        messages_by_surface.setdefault(surface, []).append(message.text)
    return messages_by_surface


def test_a_message_is_collected_with_all_parts_joined_and_with_names_in_place_of_values() -> None:
    error = 'class Wrong(BpeError):\n    """An error."""\n'
    source = error + 'label = "Two words"\nraise Wrong(f"No {kind} is" + f" in {place}.")\n'
    assert collect_messages(source) == {"window": ["Two words"], "errors": ["No {kind} is in {place}."]}


def test_collecting_messages_leaves_out_docstrings_and_patterns_and_settings_and_single_words() -> None:
    source = '"""A module here."""\nimport re\nkey = "word"\npattern = re.compile("two words")\n'
    source += 'LAYOUT = Setting("window/own layout", "")\n'
    assert collect_messages(source) == {}


def test_collecting_messages_leaves_out_examples_and_keeps_the_sentences_before_them() -> None:
    source = 'text = """Learn merges\n    from texts.\n\n    examples:\n      bpe-explorer train a.txt\n    """\n'
    assert collect_messages(source) == {"window": ["Learn merges from texts."]}


def test_collecting_messages_leaves_out_style_sheets_and_markup() -> None:
    assert (
        collect_messages("style = 'QLabel { color: palette(text); }'\npage = '<div class=\"a b\">two words</div>'\n")
        == {}
    )


def test_lists_of_names_are_not_collected_as_messages() -> None:
    assert collect_messages('names = "gpt two llama three".split()\n') == {}


def test_collecting_messages_leaves_out_texts_that_the_code_only_compares() -> None:
    source = (
        'End = Literal["too rare", "no pairs"]\nend: End = "too rare"\n'
        'match end:\n    case "another end":\n        label = "The end"\nis_full = end == "no room"\n'
    )
    assert collect_messages(source, {"too rare", "no pairs"}) == {"window": ["too rare", "no pairs", "The end"]}


def test_collecting_messages_leaves_out_sql_text_and_hexadecimal_numbers() -> None:
    source = 'rows = "runs WHERE number = 1", "id, hex(text), count"\nmarks = "5c8-5c9 7fd 897-89f 8ca"\n'
    assert collect_messages(source) == {}


def test_collecting_messages_includes_the_docstring_of_a_question() -> None:
    assert collect_messages('class Why(Question):\n    """Show why."""\n    x = 1\n') == {"window": ["Show why."]}


def numbers_before_plural_nouns(source: str) -> list[str]:
    """Return the numbers in f-strings that come before a plural noun. Such a text would be wrong for the number 1."""
    found: list[str] = []
    if ":,}" not in source:  # a source without a match is not parsed
        return found
    for node in ast.walk(ast.parse(source)):
        for number, behind in pairwise(node.values if isinstance(node, ast.JoinedStr) else ()):
            if not isinstance(number, ast.FormattedValue) or not isinstance(behind, ast.Constant):
                continue
            written = "" if number.format_spec is None else ast.unparse(number.format_spec)
            value = ast.unparse(number.value)
            text = str(behind.value)
            if written == "f','" and NUMBER_OF_THINGS.match(text) and not IS_CONSTANT.fullmatch(value):
                found.append(f"{{{value}}}{text[:20]}")
    return found


def test_the_check_of_source_code_finds_a_number_before_a_plural_noun() -> None:
    source = 'f"{count:,} tokens", f"{count:,} new merges", f"{MOST:,} bytes", f"{count:,} of the tokens"'
    assert numbers_before_plural_nouns(source) == ["{count} tokens", "{count} new merges"]


def test_messages_with_counts_use_the_function_that_handles_the_singular() -> None:
    """In earlier versions, messages said "1 merges" and "1 tokens are matched"."""
    found = {
        str(path.relative_to(ROOT)): numbers
        for folder in ("app", "bpe_core")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(STANDS_ALONE)
        and (numbers := numbers_before_plural_nouns(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "write the number and its noun with count_text"


def notes_about_several_things() -> list[str]:
    """Return each note with a plural noun at its beginning, from all file formats. In a note, `{}` stands for names."""
    begins = re.compile(r"([a-z]+ )?(tokens|pieces|characters|merges|symbols)\b .*\{")
    return [message.text for message in messages("engine") if begins.match(message.text) and "formats/" in message.path]


def test_a_note_about_a_single_item_is_written_in_the_singular() -> None:
    notes = notes_about_several_things()
    assert len(notes) > 15
    plural = re.compile(
        r"1 ([a-z]+ )?(tokens|pieces|characters|merges|symbols)\b|^[^:]*\b(they|them|their)\b"
        r"|(and|but) (are|have|occur|stay)\b"
    )
    assert [one for note in notes if plural.search(one := count_sentence(1, note))] == []
