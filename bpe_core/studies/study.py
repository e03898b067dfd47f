"""The study: a history, the ids of its file, and the texts that questions are about.

    >>> from bpe_core.studies.making import train
    >>> study = train(["low low low slow slow"], "gpt2", merges=2)
    >>> study
    Study(method='bpe', recipe='gpt2', vocab_size=258, steps=2)
    >>> study.encode("slow"), study.decode([115, 257]), study.tokens[257]
    ([115, 257], 'slow', b'low')
    >>> [(span.text, span.start, span.stop) for span in study.spans("é low")]
    [('<0xC3>', 0, 1), ('<0xA9>', 0, 1), ('␣', 1, 2), ('low', 2, 5)]

A trained run, an opened file and a run of a session are studies. Ids are always the ids of the file. The attribute
`inside` holds the data for questions and the engine's indices.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from bpe_core.errors import BpeError, OutputError
from bpe_core.formats.byte_level import read as bytes_of_stand_ins
from bpe_core.history.arguments import history_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.ids_in_use import final_indices, final_numbers, warn_about_large_ids
from bpe_core.history.token_texts import TokenBytes, parse_shown
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.methods.kit.tokenizer import Tokenizer, Way
from bpe_core.segmenting.cutting import Allowed
from bpe_core.studies.inside import Inside, TokenNames, indices_by_number
from bpe_core.support.arrays import UInt32s, UInt64s
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import as_call, count_text

if TYPE_CHECKING:  # not needed for encoding
    from bpe_core.formats.base import Format
    from bpe_core.studies.texts import Texts
    from bpe_core.verification.checking import PreparedExport

Key = TypeVar("Key")

ONE_TEXT = (str, bytes, bytearray, memoryview)  # the kinds of a single text

FORMER = frozenset(  # names that moved to `inside`
    (
        *("by_index", "pair_name", "columns", "pair_columns", "has_ranks", "checked_step", "checked_step_count"),
        *("words", "parts", "own_words", "learned_from", "ranked", "cut", "file_counts", "symbol_counts", "once"),
        *("sources", "texts_are_own", "tokenizer"),
    )
)


@contextmanager
def _only_whole_numbers() -> Iterator[None]:
    """Raise BpeError with a readable sentence if the `with` block uses a value that cannot be an id, such as 1.5.

    Python itself raises a TypeError or an IndexError for such a value.
    """
    try:
        yield
    except (TypeError, IndexError) as error:
        raise BpeError("Ids are whole numbers. Give a list or an array of ids, such as `encode` returns.") from error


@dataclass(frozen=True)
class Span:
    """A token with its offsets in characters and bytes of the text.

    Parameters
    ----------
    id
        The id of the token in the file. None means that the file has no id for it, as for an unknown token.
    text
        The text of the token.
    start, stop
        The offset of the token's first character, and the offset after its last character.
    first_byte, end_byte
        The offset of the token's first byte in UTF-8, and the offset after its last byte.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> train("low low low", "gpt2", merges=2).spans("é low")[-1]
    Span(id=257, text='low', start=2, stop=5, first_byte=3, end_byte=6)
    """

    id: int | None
    text: str
    start: int
    stop: int
    first_byte: int
    end_byte: int


class Study:
    """A tokenizer with its history, and with the texts that it was learned from if they are known.

    Parameters
    ----------
    history
        The steps that were learned, with the recipe and the alphabet.
    texts
        The texts that are used to answer questions about the study. `bpe.train`, for example, sets them to its
        training texts. If there are no texts, this is None.
    name
        The name of the file, or a name that a user chose.
    format
        The format of the file from which the study was opened.
    notes
        Sentences about features of the file that the history cannot hold.
    sources
        The sources of the texts that the history was learned from, if a session stores them.
    texts_are_own
        Whether the history was learned from `texts`.
    symbol_counts
        The count of each base symbol in the texts, if it is known.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> study = train(["low low low slow slow"], "gpt2", merges=2)
    >>> study.vocab_size, study.encode(["low", "slow"]), study.token_to_id("low")
    (258, [[257], [115, 257]], 257)
    """

    def __init__(
        self,
        history: History,
        texts: Texts | None = None,
        *,
        name: str = "",
        format: str = "",
        notes: tuple[str, ...] = (),
        sources: Hashable = (),
        texts_are_own: bool = False,
        symbol_counts: Int64s | None = None,
    ) -> None:
        self.history = history
        self._tokenizer = cache(partial(Tokenizer, history))  # made when it is first needed
        self.texts = texts
        self.name = name
        self.format = format
        self.notes = notes
        self._known: dict[str, Any] = {
            "own_texts": texts if texts_are_own else None,
            "sources": sources,
            "texts_are_own": texts_are_own,
            "symbol_counts": symbol_counts,
        }

    @cached_property
    def inside(self) -> Inside:
        """Return the internal data of the study, which questions use: words, ranks, counts and indices of tokens."""
        return Inside(self.history, self.texts, name=self.name, tokenizer=self._tokenizer, **self._known)

    @classmethod
    def of(cls, given: Any, name: str = "") -> Study:
        """Make a study from a history, or from an object that has a history. A study is returned unchanged.

        Parameters
        ----------
        given
            A history, or the result of `train` or `open`.
        name
            The name of the new study. If `given` is a study, it keeps its own name.
        """
        return given if isinstance(given, Study) else cls(history_of(given, name), name=name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table without its texts. Equal tables give equal bytes in any process."""
        return _unpickled, (self.history, self.name, self.format, self.notes)

    def __copy__(self) -> Study:
        return self._with(self.history)

    def __deepcopy__(self, memo: dict[int, Any]) -> Study:
        return self._with(deepcopy(self.history, memo))

    def _with(self, history: History) -> Study:
        """Return a study with another history and the texts of this study."""
        copied = Study(history, self.texts, name=self.name, format=self.format, notes=self.notes)
        copied._known |= self._known
        return copied

    def __repr__(self) -> str:
        recipe = self.history.recipe
        named = {"name": self.name} if self.name else {}
        special = {"special_tokens": recipe.special_tokens} if recipe.special_tokens else {}
        sizes = {"vocab_size": self.vocab_size, "steps": len(self.history)}
        return as_call("Study", **named, method=recipe.method, recipe=recipe.name, **sizes, **special)

    @property
    def _in_words(self) -> str:
        size = count_text(self.history.vocabulary_size, "token")
        learned = steps_in_words(self.history)
        parts = [*([learned] if learned != size else []), size, f"recipe {self.history.recipe.name}"]
        return f"{self.name or 'Study'}: {', '.join(parts)}"

    def __len__(self) -> int:
        return self.history.vocabulary_size

    def _repr_html_(self) -> str:
        from bpe_core.figures.coloured_text import SAMPLE, sentence_html  # only notebooks show it

        return sentence_html(SAMPLE.encode(), self.inside.by_index.numbered_spans(SAMPLE), self._in_words)

    def at(self, step: int) -> Study:
        """Return the study as it was after a number of steps.

        Parameters
        ----------
        step
            The number of steps to keep. With 0, only the alphabet is left.
        """
        then = self.history.first(self.inside.checked_step_count(step))
        return Study(then, self.texts, name=self.name, format=self.format, texts_are_own=self.inside.texts_are_own)

    def with_texts(self, texts: Any) -> Study:
        """Return the same tokenizer with different texts for questions.

        Parameters
        ----------
        texts
            The texts, in any form that `bpe.train` accepts: a text, several texts, paths, rows with a `text`, or a
            dictionary from names to any of these.
        """
        from bpe_core.studies.texts import texts_of

        given = texts_of(texts)
        known = self._known
        other = Study(self.history, given, name=self.name, format=self.format, notes=self.notes)
        other._known |= {"own_texts": known["own_texts"], "sources": known["sources"]}
        return other

    # -- encoding and decoding -------------------------------------------------------------

    @overload
    def encode(self, text: str | bytes, *, at: int | None = None, allowed_special: Allowed = None) -> list[int]: ...

    @overload
    def encode(
        self,
        text: list[str] | list[bytes] | tuple[str | bytes, ...],
        *,
        at: int | None = None,
        allowed_special: Allowed = None,
    ) -> list[list[int]]: ...

    def encode(self, text: Any, *, at: int | None = None, allowed_special: Allowed = None) -> Any:
        """Return the ids of a text's tokens. For several texts, return a list of ids for each text.

        A text can contain the text of a special token. By default, this part becomes the special token if the library
        for this kind of tokenizer file would match it.

        Parameters
        ----------
        text
            A text, or its bytes in UTF-8, or a list of texts.
        at
            The number of steps to encode with. If it is None, all steps are used.
        allowed_special
            The special tokens that are matched: "all", or a list of tokens. An empty list matches none.
        """
        tokenizer = self._encoder
        if isinstance(text, ONE_TEXT) or not isinstance(text, Iterable):
            return tokenizer.file_ids(text, True, at, allowed_special)
        ids, offsets = self.encode_batch(text, at=at, allowed_special=allowed_special)
        every = ids.tolist()
        return [every[start:stop] for start, stop in pairwise(offsets.tolist())]

    def encode_to_numpy(
        self, text: str | bytes, *, at: int | None = None, allowed_special: Allowed = None
    ) -> UInt32s | UInt64s:
        """Return the ids of a text's tokens as an array of unsigned 32-bit integers.

        If an id is 2**32 or more, the integers have 64 bits. The parameters are those of `encode`.
        """
        ids: UInt32s | UInt64s = self._encoder.file_ids(text, False, at, allowed_special)
        return ids

    def encode_batch(
        self,
        texts: Any,
        *,
        at: int | None = None,
        allowed_special: Allowed = None,
        threads: int | None = None,
    ) -> tuple[UInt32s | UInt64s, Int64s]:
        """Return the ids of many texts in one array, and the offset at which each text begins in this array.

        The ids are unsigned 32-bit integers. If an id is 2**32 or more, the integers have 64 bits.

        Parameters
        ----------
        texts
            Texts, or their bytes in UTF-8, as a list or an Arrow array.
        at
            The number of steps to encode with. Without it, all steps are used.
        allowed_special
            The special tokens that are matched in a text, as for `encode`.
        threads
            The largest number of threads. Without it, there are as many threads as cores.
        """
        tokenizer = self._encoder
        batch = tokenizer.encode_batch(texts, at=at, allowed_special=allowed_special, threads=threads)
        return tokenizer.numbers(batch.ids), batch.offsets

    def spans(self, text: str | bytes, *, at: int | None = None, allowed_special: Allowed = None) -> list[Span]:
        """Return the tokens of a text with their offsets.

        If a token holds only a part of a character, its offsets in characters cover the whole character. The parameters
        are those of `encode`.
        """
        written = self.inside.by_index.texts.text
        number = self.inside.by_index.number
        places = self._encoder.token_spans(text, at, allowed_special)
        return [Span(number(index), written[index], *place) for index, *place in places]

    def decode(self, ids: Iterable[int], *, way: Way = "exact", skip_special: bool = False) -> str:
        """Return the text that these ids encode. Bytes that form no whole character become �.

        Parameters
        ----------
        ids
            Ids of the file, such as `encode` returns.
        way
            "exact" joins the texts of the tokens. "library" returns the text that the library of the file returns.
        skip_special
            Whether special tokens are left out.
        """
        if way == "exact":
            return self.decode_bytes(ids, skip_special=skip_special).decode(errors="replace")
        with _only_whole_numbers():
            indices = self.history.indices_of(map(operator.index, ids))
            return self._tokenizer().decode(indices, way=way, skip_special=skip_special)

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, Int64s]:
        """Return the text that these ids encode, and the offset in characters at which each token begins.

        The text is that of `decode`. If a token begins inside a character, its offset is the offset of this character.
        A blank that is put before a token, as between the words of BERT, does not belong to the token.

        Parameters
        ----------
        ids
            Ids of the file, such as `encode` returns.

        Examples
        --------
        >>> from bpe_core.studies.making import train
        >>> study = train(["low low low"], "gpt2", merges=2)
        >>> text, offsets = study.decode_with_offsets(study.encode("é low"))
        >>> text, offsets.tolist()  # the tokens are the two bytes of é, a blank, and low
        ('é low', [0, 0, 1, 2])
        """
        return self._tokenizer().decode_with_offsets(ids)

    def decode_batch(
        self,
        batch: Iterable[Any],
        offsets: Iterable[int] | None = None,
        *,
        way: Way = "exact",
        skip_special: bool = False,
    ) -> list[str]:
        """Return the texts of several lists of ids.

        Parameters
        ----------
        batch
            A list of ids for each text, or one array of all ids, as `encode_batch` returns it.
        offsets
            The offset at which each text begins in that array, and the length of the array.
        way, skip_special
            The same parameters as in `decode`.
        """
        if offsets is not None:
            ids = batch.tolist() if hasattr(batch, "tolist") else list(batch)
            batch = [ids[start:stop] for start, stop in pairwise(offsets)]
        with _only_whole_numbers():
            batch = list(batch)
        return [self.decode(ids, way=way, skip_special=skip_special) for ids in batch]

    def decode_bytes(self, ids: Iterable[int], *, skip_special: bool = False) -> bytes:
        """Return the bytes that these ids encode. The bytes may end inside a character.

        The parameters are those of `decode`.
        """
        with _only_whole_numbers():
            return self._tokenizer().decode_numbers(ids, skip_special=skip_special)

    # -- saving ----------------------------------------------------------------------------

    def save(
        self, path: Path | str, *, format: Format | str | None = None, work: Work = ALONE, **choices: Any
    ) -> PreparedExport:
        """Write the tokenizer to a file. The ending of the file's name chooses the format.

        The file is read back and compared before it is put in place.

        Parameters
        ----------
        path
            The name of the file. If it ends in /, a folder is written, with updated copies of the sidecar files of
            the tokenizer.
        format
            The name of a format, such as "tiktoken", if the ending of the file does not show the format.
        work
            The callbacks that receive the progress and may cancel the work.
        **choices
            `merges` is the number of merges to write. `text` is a further text to compare. `like` and `to` are the
            choices of `bpe.save` for a folder.
        """
        return save(self, path, format=format, work=work, **choices)

    # -- its tokens by name and number -----------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """Return the number of ids in use after the last step. Special tokens are included.

        The largest id can be greater than this number, because a file may leave out some ids.
        """
        return len(final_numbers(self.history))

    def get_vocab(self) -> dict[str, int]:
        """Return a dictionary from each token's readable text to its id, for the tokens in use after the last step."""
        return dict(self._ids_by_name)

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token in use after the last step. Return None if there is no such token.

        Parameters
        ----------
        token
            The token's bytes, or its text. The text may have its readable form (`"␣the"`, or with a real space), or the
            form that byte-level files use (`"Ġthe"`).
        """
        if isinstance(token, bytes):
            return self._ids_by_bytes.get(token)
        if token in self._ids_by_name:
            return self._ids_by_name[token]
        with suppress(ValueError):  # a part of a character is no token
            if (raw := parse_shown(token)) in self._ids_by_raw:
                return self._ids_by_raw[raw]
        return self._ids_by_raw.get(bytes_of_stand_ins(token) or b"")

    def id_to_token(self, id: int) -> str | None:
        """Return the text of a token in use after the last step. Return None if no such token has this id.

        Parameters
        ----------
        id
            The id of the token in the file.
        """
        return self.names[id] if id in self._final_indices else None

    def id_of(self, text: str) -> int:
        """Return the id of the oldest token with this text. Raise BpeError if there is no such token or no id for it.

        Parameters
        ----------
        text
            The text of the token, or a `#` followed by its id.
        """
        number = self.inside.by_index.number(self.inside.by_index.of_text(text))
        if number is None:
            raise BpeError(f"The file has no id for the token {text[:60]!r}, so it never occurs in an encoded text.")
        return number

    @cached_property
    def _encoder(self) -> Tokenizer:
        """Return the tokenizer for encoding. Warn once if ids may be larger than the vocabulary size."""
        if not self.history.only_joins:
            warn_about_large_ids(self.history, callers=4)
        return self._tokenizer()

    @property
    def names(self) -> TokenNames:
        """Return a mapping from each id to the readable text of its token. Dropped tokens are included."""
        return self.inside.names

    @cached_property
    def tokens(self) -> Mapping[int, bytes]:
        """Return a mapping from each id to the bytes of its token. Dropped tokens are included."""
        texts = TokenBytes(self.history)
        return {number: texts[index] for number, index in indices_by_number(self.history).items()}

    @cached_property
    def _final_indices(self) -> dict[int, int]:
        """Return a dictionary from each id in use after the last step to the index of its token."""
        return final_indices(self.history)

    @cached_property
    def _ids_by_name(self) -> dict[str, int]:
        return self._ids_by(self.inside.by_index.texts.text.__getitem__)

    @cached_property
    def _ids_by_raw(self) -> dict[bytes, int]:
        """Return a dictionary from each token's text in the file, which includes word markers, to its id."""
        return self._ids_by(self.inside.by_index.texts.raw.__getitem__)

    @cached_property
    def _ids_by_bytes(self) -> dict[bytes, int]:
        """Return a dictionary from the decoded bytes of each token to its id."""
        return self._ids_by(TokenBytes(self.history).__getitem__)

    def _ids_by(self, key: Callable[[int], Key]) -> dict[Key, int]:
        """Return a dictionary from each token's key to its id, in the order of the ids.

        The function `key` computes the key from the token's index.

        If several tokens have the same key, the dictionary has the id of the oldest of them.
        """
        newest_first = sorted(self._final_indices.items(), key=itemgetter(1), reverse=True)
        id_of = {key(index): id for id, index in newest_first}
        return dict(sorted(id_of.items(), key=itemgetter(1)))

    # -- former names ----------------------------------------------------------------------

    if not TYPE_CHECKING:  # type checkers only know the present names

        def __getattr__(self, name: str) -> Any:
            """Return an attribute that was moved to `inside`, and issue a DeprecationWarning.

            Older scripts and plug-ins use the attribute on the study.
            """
            if name not in FORMER or "_known" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            now = "the study itself" if name == "tokenizer" else f"Study.inside.{name}"
            warnings.warn(f"Study.{name} is {now} now.", DeprecationWarning, stacklevel=2)
            return self if name == "tokenizer" else getattr(self.inside, name)


def _unpickled(history: History, name: str, format: str, notes: tuple[str, ...]) -> Study:
    return Study(history, name=name, format=format, notes=notes)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken. A number is added to the name if necessary.

    >>> free_name("a", ["a", "a (2)"])
    'a (3)'
    """
    place = 1
    while (free := name if place == 1 else f"{name} ({place})") in taken:
        place += 1
    return free


def as_study(given: Any) -> Study:
    return Study.of(given)


def save(
    given: Any,
    path: Path | str,
    *,
    format: Format | str | None = None,
    like: Path | str = "",
    to: str | None = None,
    work: Work = ALONE,
    **choices: Any,
) -> PreparedExport:
    """Write a tokenizer to a file, and check the result.

    The ending of the file's name chooses the format. If the written file splits texts differently, an OutputError
    is raised and nothing is changed.

    Parameters
    ----------
    given
        A study, a history, or the result of `trim`, `extend`, `put_together` or `change_specials`.
    path
        The name of the file. A name that ends with a slash is a folder.
    format
        The name of a format, such as "tiktoken". It is needed if the ending of the file does not show the format.
    like
        A model's folder. Its token roles, padding sides, templates and files for other loaders are copied and
        updated. By default this is the folder from which the study was opened.
    to
        The format of the folder's main file, if it should change.
    work
        The callbacks that receive the progress and may cancel the work.
    **choices
        `merges` is the number of merges to write. `text` is an additional text for the check.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     written = save(bpe.trim(study, [257]), Path(folder, "tokenizer.json"))
    ...     bpe.open(Path(folder, "tokenizer.json")).vocab_size
    257
    """
    from bpe_core.formats import FORMATS
    from bpe_core.verification.checking import prepare_export

    study = Study.of(given)
    if isinstance(format, str) and format not in FORMATS:
        raise OutputError(f"There is no format {format!r}; the formats are {', '.join(FORMATS)}.")
    if format is not None:
        choices["format"] = FORMATS[format] if isinstance(format, str) else format
    if str(path).endswith(("/", "\\")):
        prepared = _prepared_folder(given, study, path, str(like) or study.name, to, work=work, **choices)
    else:
        prepared = prepare_export(study.history, path, work=work, **choices)
    if not prepared.verification.agrees:
        cause = prepared.verification.differences[:1]
        raise OutputError(" ".join([f"{path} was not written: {prepared.verification.sentence}.", *cause]))
    prepared.put_in_place()
    return prepared


def _prepared_folder(
    given: Any, study: Study, path: Path | str, like: str, to: str | None, **choices: Any
) -> PreparedExport:
    from bpe_core.delivery.changed_folder import plan_for, prepare_changed_folder
    from bpe_core.delivery.sidecars import sidecars_of
    from bpe_core.formats import open_table
    from bpe_core.formats.hugging_face_cache import tokenizer_file

    if not like:
        raise OutputError(
            f"{path} is a folder: with the argument `like`, name the folder to copy, or write a new folder with "
            "bpe.deliver."
        )
    before = open_table(like)
    plan = plan_for(path, sidecars_of(like, before.format), tokenizer_file(like), before.format, to)
    plan.refuse_other_contents()
    renamed = getattr(given, "renamed", {})  # the result of `change_specials`
    return prepare_changed_folder(plan, before.history, study.history, renamed=renamed, **choices)
