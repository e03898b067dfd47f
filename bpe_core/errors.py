"""The errors that a user can cause and understand.

Any other exception that leaves the engine is a bug. The message of an error is a whole sentence for the user. It says
what is wrong, where (file, line, byte), and what to do.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SENTENCE = 300  # characters; a quoted value may be as long as a file
_LOOKED_AT = 4_000  # characters at the beginning, and at the end, of a longer text
_LONG_WORD = r"(\S{30})\S{41,}(\S{40})"  # a path, or a value without blanks; its end distinguishes it


class BpeError(Exception):
    """An error that is raised when a request cannot be fulfilled. Its message says what to do.

    All errors that a user can understand and fix are instances of this class or of one of its subclasses.
    """

    def __init__(self, sentence: str = "") -> None:
        super().__init__(plain(sentence, LONGEST_SENTENCE))

    def name_subject(self, what: str) -> None:
        """Put a subject, such as a file name, before the message of this error.

        The caller then raises the error again.
        """
        self.args = (plain(f"{what}: {self}", LONGEST_SENTENCE),)

    def say_of(self, what: str) -> None:
        """Do the same as `name_subject`. This is the former name of that method."""
        warnings.warn("BpeError.say_of is called BpeError.name_subject now.", DeprecationWarning, stacklevel=2)
        self.name_subject(what)


def plain(sentence: str, longest: int | None = None) -> str:
    """Return a sentence that can be printed safely, even if it contains names and values from outside the program.

    Control characters are escaped. A sentence longer than `longest` is shortened.

    >>> plain("/home/anna" * 50 + "/text.txt is a folder, not a file.", 300)
    '/home/anna/home/anna/home/anna…a/home/anna/home/anna/home/anna/text.txt is a folder, not a file.'
    """
    if longest is not None and len(sentence) > 2 * _LOOKED_AT:
        sentence = sentence[:_LOOKED_AT] + sentence[-_LOOKED_AT:]
    if not sentence.isprintable():
        sentence = "".join(sign if sign.isprintable() or sign in _HARMLESS else _escaped(sign) for sign in sentence)
    return sentence if longest is None else _shortened(sentence, longest)


def _shortened(sentence: str, longest: int) -> str:
    """Shorten long words of a sentence in their middle. If the sentence is still too long, shorten the sentence.

    The end of the sentence says what to do, so it is kept.
    """
    if len(sentence) > longest:
        sentence = re.sub(_LONG_WORD, r"\1…\2", sentence)
    if len(sentence) > longest:
        last = longest // 2
        sentence = f"{sentence[: longest - last - 3]} … {sentence[-last:]}"
    return sentence


_HARMLESS = frozenset("\n\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")


def _escaped(sign: str) -> str:
    """Return a character in escaped form. A space of any kind is returned unchanged."""
    if unicodedata.category(sign) == "Zs":
        return sign
    return sign.encode("unicode-escape").decode("ascii")


@contextmanager
def throwing_exceptions() -> Iterator[None]:
    """Raise an Exception in place of any other error that a library raises in the `with` block.

    For example, the error of a panic in Rust code is not a subclass of Exception.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise RuntimeError(str(error)) from error


def cause_of(error: BaseException) -> str:
    """Return the cause of an error as a phrase for a sentence, without the jargon of libraries."""
    if isinstance(error, BpeError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return f"its bytes are not {error.encoding} from byte {error.start + 1:,} on"
    if isinstance(error, RecursionError):
        return "its brackets are nested too deeply"
    if hasattr(error, "lineno") and hasattr(error, "colno"):  # of JSON
        return f"the text cannot be parsed from line {error.lineno:,}, column {error.colno:,} on"
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) and error.args[0].isidentifier():
        return f'it lacks "{error.args[0]}"'
    if isinstance(error, ValueError) and re.search(r"\(at (line \d+, column \d+|end of document)\)$", str(error)):
        return str(error)  # of TOML
    if isinstance(error, TooManyValues):
        return "too many values are in the file"
    if isinstance(error, RepeatedKeyError):
        return str(error)
    if isinstance(error, TypeError | AttributeError | NotImplementedError):
        return "a value has the wrong type"
    name = getattr(error, "sqlite_errorname", None)
    return next((sentence for kind, sentence in _OF_DATABASES.items() if name and kind in name), _NO_SENSE)


_NO_SENSE = "a value is impossible"
_OF_DATABASES = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk reports an error",
    "SQLITE_READONLY": "writing is not allowed",
    "SQLITE_PERM": "permission denied",
    "SQLITE_CANTOPEN": "the file cannot be opened",
    "SQLITE_BUSY": "another program uses the file",
    "SQLITE_LOCKED": "another program uses the file",
    "SQLITE_NOMEM": "there is not enough memory",
    "SQLITE_TOOBIG": "a text or list is too large for one row",
    "SQLITE_CORRUPT": "a page of the file cannot be read",
    "SQLITE_NOTADB": "a page of the file cannot be read",
}


class RepeatedKeyError(ValueError):
    """An error that is raised when a key occurs twice in one JSON object. Its text names the key."""


class TooManyValues(ValueError):
    """An error that is raised when a JSON file has more values than a valid file of its kind can have.

    The caller writes the message.
    """


class RecipeError(BpeError):
    """An error that is raised when choices of a recipe are impossible or contradict each other."""


class PatternError(RecipeError):
    """An error that is raised when a regular expression is invalid, never matches, or runs out of time."""


class SizeDoesNotFit(RecipeError):
    """An error that is raised when a vocabulary size is too small or too large.

    `fitting` is a size that would be possible.
    """

    def __init__(self, problem: str, advice: str, fitting: int) -> None:
        super().__init__(f"{problem} {advice}")
        self.problem = problem
        self.fitting = fitting


class CorpusError(BpeError):
    """An error that is raised when a text cannot be found, opened, decompressed or parsed."""


class EncodingError(CorpusError):
    """An error that is raised when bytes cannot be decoded by the encoding of their file."""


class NoDocuments(CorpusError):
    """An error that is raised when a question needs whole texts, but only the counts of their words exist."""


class NothingToLearn(BpeError):
    """An error that is raised when a corpus has no neighbouring symbols, so no merge can be learned."""


class FormatError(BpeError):
    """An error that is raised when a merge table or tokenizer file is damaged or of an unknown kind."""


def damage_error(sentence: str, kind: type[BpeError] = FormatError) -> BpeError:
    """Return an error of type `kind` about a damaged file. Its message ends with advice.

    >>> str(damage_error("a.csv ends within its merges: it was truncated."))
    'a.csv ends within its merges: it was truncated. Use another copy of the file, or make it again.'
    """
    return kind(f"{sentence} Use another copy of the file, or make it again.")


class OutputError(BpeError):
    """An error that is raised when a file cannot be written. An existing file of the same name is unchanged."""


class ClusterError(BpeError):
    """An error that is raised when other computers do not answer, or cannot do their part of the work."""


class TooLarge(BpeError):
    """An error that is raised when work would exceed a limit of memory or size."""


class LargeIdsWarning(UserWarning):
    """A warning that is raised when the largest id of a run is too large for the size of its vocabulary."""


class Cancelled(BpeError):
    """An error that is raised when work stops because the user cancelled it."""
