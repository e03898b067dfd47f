# Made of the questions by `python -m tests.question_stub`.

from collections.abc import Callable, Mapping, Sequence
from inspect import Signature
from typing import Any, Literal

from bpe_core.asking.answer import Answer
from bpe_core.asking.parameters import Parameter
from bpe_core.asking.question import Question
from bpe_core.history.arguments import Learned
from bpe_core.studies.texts import GivenTexts
from bpe_core.support.progress import Work

__all__ = [
    "audit",
    "benchmark",
    "blocks",
    "canonical",
    "chat",
    "check",
    "compression",
    "curves",
    "diff",
    "ends",
    "floor",
    "folder",
    "forms",
    "grade",
    "idmap",
    "lab",
    "languages",
    "lengths",
    "look",
    "lorenz",
    "mixture",
    "morphemes",
    "noise",
    "overlap",
    "paid",
    "pairs",
    "race",
    "ranks",
    "scripts",
    "sizes",
    "steps",
    "supermerges",
    "sweep_results",
    "ties",
    "token",
    "tree",
    "twins",
    "ways",
    "why",
]

def function_of(question: type[Question]) -> Callable[..., Answer]: ...
def signature_of(question: type[Question]) -> Signature: ...
def docstring_of(question: type[Question]) -> str: ...
def names_of_studies(question: type[Question]) -> tuple[str, ...]: ...
def type_of(question: type[Question], parameter: Parameter) -> Any: ...
def written_type(annotation: Any) -> str: ...
def audit(
    study: Learned,
    only: str = "",
    sort: Literal["id", "token", "length", "count", "criteria", "reason"] = "id",
    reverse: bool = False,
    rare: int = 5,
    long: int = 20,
    *,
    work: Work | None = None,
) -> Answer:
    """List the tokens that deserve a second look: scaffolds, unreachable, unused, broken …

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    only : str, optional
        List only tokens that meet at least one of these criteria, separated by commas.
    sort : str, optional
        The order of the list.
    reverse : bool, optional
        Reverse the order, such as the shortest first.
    rare : int, optional
        A token is rare if it occurs fewer than N times (default: 5).
    long : int, optional
        A token is very long if it has more than N characters (default: 20).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.audit(study, sort="length").columns["token"][:2]
    ['␣lowe', '␣ne']
    """

def benchmark(
    studies: Mapping[str, Learned],
    texts: GivenTexts | None = None,
    parallel: str = "",
    reference: str = "",
    sizes: Sequence[int] = (),
    relative_to: str = "",
    weights: Sequence[str] = (),
    sums: bool = False,
    intervals: bool = False,
    seed: int = 0,
    measure: str = "tokens",
    power: float = 2.5,
    ends: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Compare tokenizers on texts, and count the tokens that the same sentences need in each language.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    texts : Any, optional
        Files and folders; each file is a text: everything that `bpe.train` takes.
    parallel : str, optional
        A folder with a file for each language; all files have the same sentences, one in each line
        (default: ten sentences of this program).
    reference : str, optional
        The reference language for the comparison (default: en, or the first).
    sizes : Sequence[int], optional
        Compare each tokenizer at these vocabulary sizes.
    relative_to : str, optional
        The reference tokenizer for the comparison (default: the first).
    weights : Sequence[str], optional
        Add up all texts by these shares, such as de=70%% code=30%%, or by factors.
    sums : bool, optional
        Add up all texts by their bytes, and recommend a tokenizer.
    intervals : bool, optional
        Also give intervals, by drawing whole documents (or the sentences of --parallel) again and
        again.
    seed : int, optional
        The seed of the random draws (default: 0).
    measure : str, optional
        The measure to draw: tokens, bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use,
        type_token_ratio, average_rank, unknown_share, unencoded_share, relative_tokens, inside,
        seconds, premium, byte_premium, single_token_share, zipf_exponent, zipf_fit.
    power : float, optional
        The order of the Rényi entropy.
    ends : bool, optional
        Also measure the share of the ends of words that fall inside a token.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> two = {"ours": study, "half": study.at(3)}
    >>> bpe.benchmark(two, {"en": "the lowest", "de": "die niedrigste"}).columns["tokens"].tolist()
    [6, 13, 8, 13]
    """

def blocks(
    study: Learned,
    *,
    work: Work | None = None,
) -> Answer:
    """Show which pair each byte replaces in the blocks of a compressed text, and the size of all blocks over time.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest " * 9, "gage", merges=6)
    >>> bpe.blocks(study).sentences[0]
    "The number of bytes in all blocks after each step, compared with today's compressors."
    """

def canonical(
    study: Learned,
    ids: Sequence[int | str] = (),
    fields: Sequence[str] = (),
    id_bytes: int = 0,
    way: Literal["library", "exact"] = "library",
    specials: Literal["", "all", "none"] = "",
    pairs: Sequence[tuple[str, str]] = (),
    drawn: int = 0,
    *,
    work: Work | None = None,
) -> Answer:
    """Show whether ids stay the same when they are decoded and encoded again, and why not.

    A model may write tokens that its tokenizer would never give for the same text. If such a text is encoded again, the
    new ids differ from the ids of the model. This can happen in training data and in the answers of a model.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    ids : Sequence[int | str], optional
        Ids, or files with ids (.npy, .bin, .parquet, .jsonl, or text with one row in each line).
    fields : Sequence[str], optional
        The fields of a row that hold its ids, in order (default: fields with known names).
    id_bytes : int, optional
        The number of bytes of an id in a .bin file: 1, 2, 4 or 8.
    way : Literal['library', 'exact'], optional
        Decode as the library of the file does, or exactly, token by token.
    specials : Literal['', 'all', 'none'], optional
        Match all special tokens that occur in the text, or none (default: as the library of the file
        does).
    pairs : Sequence[tuple[str, str]], optional
        Say whether these two tokens can ever be neighbours.
    drawn : int, optional
        Check for N random pairs of tokens whether the two tokens can ever be neighbours.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.canonical(study, [108, 111, 119]).columns["encoded"]
    ['257']
    """

def chat(
    path: str,
    messages: str | list[dict[str, Any]],
    generation_prompt: bool = False,
    template: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show a chat as a model gets it: rendered by the template of its folder, token by token, coloured by role.

    The answer also shows how many tokens the template adds, and which special tokens a user could write. It also
    says whether the ids of earlier turns stay the same when a turn is added. If they do, a model can reuse what
    it has computed for these turns. Templates are rendered in a sandbox.

    Parameters
    ----------
    path : str
        The folder of a model, a GGUF file, or hf:owner/name; if you give a template, also a tokenizer
        or session.
    messages : str | list[dict[str, Any]]
        A .json file with the messages of a chat.
    generation_prompt : bool, optional
        End the chat with the beginning of an answer, so that a model writes the rest of the answer.
    template : str, optional
        A .jinja file, the text of a template, or the name of one of several templates of the folder.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> with TemporaryDirectory() as folder:
    ...     written = study.save(f"{folder}/tokenizer.json")
    ...     template = "{% for one in messages %}{{ one.role }}: {{ one.content }}{% endfor %}"
    ...     count = Path(folder, "chat_template.jinja").write_text(template)
    ...     answer = bpe.chat(folder, [{"role": "user", "content": "low"}])
    >>> answer.facts["rendered"], answer.facts["roles"][-1]
    ('user: low', 'user')
    """

def check(
    study: Learned,
    pins: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Check whether a table was learned correctly: does each merge follow from the counts?

    Each step should merge the most frequent pair. Each row of the answer is a step that merges a different pair.
    The row also has the pair that should have been merged. If you give no texts, only the table itself is
    checked. If you give pins, the answer shows whether texts are still split the same way.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    pins : str, optional
        Compare with the ids that `pin` has written.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.check(study).sentences[0]
    'All 6 merges follow from the counts: each took the most frequent pair.'
    """

def compression(
    study: Learned,
    *,
    work: Work | None = None,
) -> Answer:
    """Show how many tokens the corpus has after each step, and how many base symbols a token has on average.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.compression(study).columns["tokens"].tolist()
    [34, 30, 27, 24, 21, 19, 17]
    """

def curves(
    studies: Mapping[str, Learned],
    measure: str = "bytes_per_token",
    held_out: GivenTexts | None = None,
    list: str = "",
    lines: Sequence[str] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Draw a measure of many tokenizers over the vocabulary size.

    Runs that differ only in their random samples are drawn as a single line with a band around it.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    measure : str, optional
        The measure to draw: bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use,
        unknown_share, bits_per_byte, morpheme_precision, morpheme_recall, morpheme_f1.
    held_out : Any, optional
        Measure on texts that no run has learned from; each named text has its own curves: everything
        that `bpe.train` takes.
    list : str, optional
        A file of words with their morphemes, or en or de for a list of this program.
    lines : Sequence[str], optional
        Draw only these lines.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.curves({"ours": study}, held_out=["the lowest"]).columns["bytes_per_token"].round(2).tolist()
    [1.0, 1.11, 1.25, 1.25, 1.25, 1.43, 1.67]
    """

def diff(
    studies: Mapping[str, Learned],
    text: str = "",
    limit: int = 10,
    *,
    work: Work | None = None,
) -> Answer:
    """Show where two tokenizers differ, and why.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    text : str, optional
        Show how both tokenizers split this text.
    limit : int, optional
        List up to N tokens that only one tokenizer has (default: 10).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> two = {"ours": study, "half": study.at(3)}
    >>> bpe.diff(two, "the lowest").sentences[0]
    'ours: 6 merges.'
    """

def ends(
    studies: Mapping[str, Learned],
    words: Sequence[str] = (),
    text: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show which word ends fall inside a token. A prompt should not stop at such a word end.

    A prompt that stops inside a token ends with tokens that a model has never seen at such a place. If you give a
    text, its end is examined. The answer then shows which tokens continue after the end, how many tokens to remove
    from the end, and the healed prompt.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    words : Sequence[str], optional
        Files with one sentence in each line and spaces between words.
    text : str, optional
        A prompt whose end is examined.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ends({"ours": study}, text="a low").sentences[0]
    'Remove 2 tokens from the end of the prompt: keep 1 of 3 ids, and let the next tokens begin with “␣low”.'
    """

def floor(
    study: Learned,
    sizes: Sequence[int] = (),
    max_length: int | None = None,
    seconds: float = 30.0,
    rounds: int | None = None,
    alone: bool = False,
    held_out: GivenTexts | None = None,
    certificate: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Show how good a vocabulary of a given size could be: its floor, and the best vocabulary found.

    The floor is a proven number of tokens. No vocabulary of the given size needs fewer tokens for the words of these
    texts, however it splits the words. The floor holds for tokens with at most a certain number of symbols. The answer
    shows this number.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    sizes : Sequence[int], optional
        Vocabulary sizes (default: the size of the table).
    max_length : int | None, optional
        The largest number of symbols in a token (default: 16, or the longest token of the table).
    seconds : float, optional
        Seconds of search, for all sizes together and with the preparation.
    rounds : int | None, optional
        Search each size for N rounds, however long they take; the result is then the same on every
        machine.
    alone : bool, optional
        Leave out the results of other methods.
    held_out : Any, optional
        Use held-out texts instead of the texts that the table was learned from: everything that
        `bpe.train` takes.
    certificate : bool, optional
        With --json: add the prices that prove each floor, and the best vocabulary.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.floor(study, rounds=5).columns["floor"]
    [7]
    """

def folder(
    path: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Compare the tokenizer files in the folder of a model, and check that all loaders get the same ids.

    The file that transformers loads comes first. Each other file is compared with this file: its tokens, merges
    and special tokens, and the ids of texts that are hard to split. The configuration files are also compared.

    Parameters
    ----------
    path : str, optional
        The folder of a model, or hf:owner/name.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> from tempfile import TemporaryDirectory
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> with TemporaryDirectory() as folder:
    ...     written = study.save(f"{folder}/tokenizer.json")
    ...     answer = bpe.folder(folder)
    >>> answer.sentences[0]
    'tokenizer.json is the only tokenizer file of this folder.'
    """

def forms(
    studies: Mapping[str, Learned],
    words: Sequence[str] = (),
    sizes: Sequence[int] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Measure whether a word is split at the same letters wherever it occurs in a text.

    A tokenizer splits each word in six forms: with a space before it, alone, in quotes, in brackets, after a line end,
    and with a capital letter. The measure is the share of the words, weighted by count, that are split at the same
    letters as with a space before them.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    words : Sequence[str], optional
        The words (default: the most frequent words of the texts).
    sizes : Sequence[int], optional
        Compare each tokenizer at these vocabulary sizes.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.forms({"ours": study}, words=("newest", "low")).columns["consistency"].tolist()
    [0.5, 0.5, 0.5, 0.5, 0.0]
    """

def grade(
    result: str,
    corpus: GivenTexts | None = None,
    as_: str = "cs336",
    vocab_size: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Grade a student's merges: find the first wrong merge, and the likely mistake that explains it.

    A trainer that follows the exercise's rules learns from the text of the exercise. If its merges differ from the
    student's merges, other trainers are tried. Each of these trainers makes one mistake, for example in the tie rule,
    the counts, overlapping pairs, special tokens, line ends or the pattern.

    Parameters
    ----------
    result : str
        The student's merges, or a folder of results.
    corpus : Any, optional
        The text of the exercise: everything that `bpe.train` takes.
    as_ : str, optional
        The exercise: cs336, minbpe, minbpe-basic, hf, or a file with a recipe or a run.
    vocab_size : int | None, optional
        The size that the exercise asks for.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> from tempfile import TemporaryDirectory
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", ties="largest-text", merges=6)
    >>> with TemporaryDirectory() as folder:
    ...     written = study.save(f"{folder}/merges.txt")
    ...     answer = bpe.grade(f"{folder}/merges.txt", corpus="low lower lowest, new newer newest", as_="cs336")
    >>> answer.sentences
    ('merges.txt: all 6 merges are right.',)
    """

def idmap(
    old: Learned,
    new: Learned,
    renamed: Sequence[tuple[str, str]] = (),
    check: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show what happens to each id if one table replaces another.

    A token that both tables have keeps its row of a model's embeddings. The text of any other new token is split into
    tokens of the old table. The mean of the rows of these tokens can be the row of the new token before it is trained.

    Parameters
    ----------
    old : Study
        The study that `train` or `open` returned, or a history.
    new : Study
        The study that `train` or `open` returned, or a history.
    renamed : Sequence[tuple[str, str]], optional
        A special token that was renamed from OLD to NEW, so it keeps its row of the embeddings.
    check : str, optional
        A saved map of ids; say whether it is still the map of these tables.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.idmap(study.at(3), study).columns["parts"][-1]
    (32, 257, 256)
    """

def lab(
    studies: Mapping[str, Learned],
    size: int | None = None,
    text: str = "",
    limit: int | None = None,
    words: bool = False,
    measure: Literal["", "tokens_per_pretoken", "bytes_per_token", "renyi_efficiency"] = "",
    columns: bool = False,
    specials: Literal["", "all", "none"] = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Compare up to four tokenizers at the same vocabulary size.

    Texts are split into words by the first tokenizer. If you give no texts, the words that one of the tokenizers was
    learned from are used.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    size : int | None, optional
        The vocabulary size; tokenizers that cannot have this size are left out (default: the size of
        each tokenizer).
    text : str, optional
        A text to split by all tokenizers.
    limit : int | None, optional
        List the N words that are split most differently (default: 10; all with --words).
    words : bool, optional
        List the words that are split differently, instead of the curves.
    measure : str, optional
        The measure to draw: tokens_per_pretoken, bytes_per_token, renyi_efficiency (default: all).
    columns : bool, optional
        List the text with a column for each tokenizer, instead of the curves.
    specials : Literal['', 'all', 'none'], optional
        Match all special tokens that occur in the text, or none (default: as the library of the file
        does).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> two = {"ours": study, "half": study.at(3)}
    >>> bpe.lab(two).sentences[0]
    'A  ours: 262 tokens after step 6 of 6'
    """

def languages(
    study: Learned,
    parallel: str = "",
    lines: Sequence[str] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Show how many tokens a sentence needs in each language, step by step.

    The band of the figure becomes narrower as the languages need more similar numbers of tokens. The texts are the dev
    texts of a parity-aware run, the texts of --parallel, or the groups of the corpus.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    parallel : str, optional
        A folder with a file for each language; all files have the same sentences, one in each line
        (default: ten sentences of this program).
    lines : Sequence[str], optional
        Draw only these languages.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.languages(study, "own").columns["text"][:3]
    ['de', 'de', 'de']
    """

def lengths(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Count the tokens of the vocabulary by their length: in bytes, or in symbols if the symbols are not text.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.lengths(study, at=3).columns["tokens"].tolist()
    [256, 3]
    """

def look(
    study: Learned,
    text: str,
    specials: Literal["", "all", "none"] = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show a text as a tokenizer splits it: coloured tokens, their ids, and unusual tokens.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    text : str
        The text.
    specials : Literal['', 'all', 'none'], optional
        Match all special tokens that occur in the text, or none (default: as the library of the file
        does).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.look(study, "the lowest").columns["text"]
    ['t', 'h', 'e', '␣lowe', 's', 't']
    """

def lorenz(
    studies: Mapping[str, Learned],
    parallel: str = "",
    sizes: Sequence[int] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Draw a curve that shows whether all languages need the same number of tokens for the same sentences.

    If they do, this Lorenz curve is a straight line. Otherwise it lies below this line. The Gini coefficient is
    twice the area between the line and the curve. Languages that a tokenizer cannot encode are left out.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    parallel : str, optional
        A folder with a file for each language; all files have the same sentences, one in each line
        (default: ten sentences of this program).
    sizes : Sequence[int], optional
        Compare each tokenizer at these vocabulary sizes.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.lorenz({"ours": study}).columns["text"][:3]
    [None, 'zh', 'en']
    """

def mixture(
    study: Learned,
    steps: int = 1000,
    pattern: str = "",
    draws: int = 20,
    seed: int = 1,
    *,
    work: Work | None = None,
) -> Answer:
    """Estimate what a table was learned from: the shares of groups of texts that explain its merges.

    Each merge took the most frequent pair. So in the texts that the table was learned from, each merge was at least as
    frequent as all other pairs. The answer is the shares of the groups, in bytes, that fit this rule best.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    steps : int, optional
        Use the first N merges (default: 1,000).
    pattern : str, optional
        The pattern that split the texts of the table, if the table names none (default: the one that
        fits best).
    draws : int, optional
        How many times to draw the documents at random, to compute the columns low and high (default:
        20).
    seed : int, optional
        The seed of the random draws (default: 1).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> texts = {"en": "the lowest of the low " * 9, "de": "die niedrigste der Zahlen " * 9}
    >>> study = bpe.train(texts, "gpt2", merges=9)
    >>> bpe.mixture(study, draws=2).columns["group"]
    ['de', 'en']
    """

def morphemes(
    studies: Mapping[str, Learned],
    list: Sequence[str] = (),
    sizes: Sequence[int] = (),
    measure: str = "f1",
    *,
    work: Work | None = None,
) -> Answer:
    """Measure how well the splits of tokenizers agree with the borders of morphemes.

    A word is split as if a space came before it, and counts once. More agreement is not always better: a frequent word
    should be one token, even if it has several morphemes.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    list : Sequence[str], optional
        Files of words with their morphemes (default: the lists of this program).
    sizes : Sequence[int], optional
        Compare each tokenizer at these vocabulary sizes.
    measure : str, optional
        The measure to draw: f1, precision, recall, morph_score, share_whole, share_alike, words,
        borders, cuts, hits.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.morphemes({"ours": study}).columns["f1"].round(2).tolist()
    [0.3, 0.29]
    """

def noise(
    studies: Mapping[str, Learned],
    share: float = 0.1,
    seed: int = 0,
    characters: int = 100000,
    measure: Literal["edits", "overlap", "growth"] = "edits",
    *,
    work: Work | None = None,
) -> Answer:
    """Show how far noise in a text changes its tokens: typing errors, capitals, look-alikes, spaces and line ends.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    share : float, optional
        The share of words, spaces or line ends that change.
    seed : int, optional
        The seed of the random changes; equal seeds make equal changes.
    characters : int, optional
        How many characters of the texts are used.
    measure : Literal['edits', 'overlap', 'growth'], optional
        The measure that is drawn.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> table = bpe.noise({"ours": study.with_texts("low lower lowest")}, share=1.0).table
    >>> dict(zip(table.columns["kind"], table.columns["noisy_tokens"], strict=True))["capitals"]
    16
    """

def overlap(
    study: Learned,
    parallel: str = "",
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Show how many tokens the texts of two languages share.

    The Jaccard index is the share of tokens that both texts use, among all tokens that at least one of them uses. It
    counts each token once. The Jensen-Shannon divergence also considers how often each text uses a token: 0 means
    equally often, 1 means no shared token.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    parallel : str, optional
        A folder with a file for each language; all files have the same sentences, one in each line
        (default: ten sentences of this program).
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train({"en": "the low house", "de": "das Haus"}, "gpt2", merges=6)
    >>> bpe.overlap(study).columns["shared"].tolist()
    [2]
    """

def paid(
    study: Learned,
    step: int,
    *,
    work: Work | None = None,
) -> Answer:
    """List the words that caused a step, and how many of the pair's occurrences each file or group has.

    A pair's count comes from the words that contain it. The words with the largest counts come first. Each word is
    shown as it was when the pair was merged.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    step : int
        The number of the step; 1 is the first.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.paid(study, 1).columns["text"]
    ['␣lower', '␣lowest', '␣newer', '␣newest']
    """

def pairs(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """List the possible next steps after any step, the best first.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> answer = bpe.pairs(study, at=2)
    >>> [*zip(answer.columns["left_text"], answer.columns["right_text"])][:2]
    [('␣', 'n'), ('n', 'e')]
    """

def race(
    study: Learned,
    pairs: Sequence[tuple[str, str]] = (),
    steps: Sequence[int] = (),
    at: int | None = None,
    never_won: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Follow chosen pairs through the training: when each pair led, and which merges lowered its count.

    A pair has a count as soon as both its tokens exist. From then on the count can only fall, each time because another
    merge uses one of the two tokens. If no pair is named, the answer follows the pairs whose counts fell the most.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    pairs : Sequence[tuple[str, str]], optional
        Follow this pair of tokens.
    steps : Sequence[int], optional
        Follow the pair that was merged at this step.
    at : int | None, optional
        Follow the pairs that are merged next after the first K steps.
    never_won : bool, optional
        List the pairs that were runner-up but never merged.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.race(study, pairs=[("l", "o"), ("e", "w")]).sentences[0]
    'l + o: 3 times after step 0, merged at step 2.'
    """

def ranks(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """List every token that occurs in the texts, the most frequent first.

    If the run was learned from these texts and only joined tokens, the counts come from its training. Some methods
    split a text differently when they encode it, so encoding can give other counts.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ranks(study).columns["text"][:3]
    ['␣ne', 'r', 's']
    """

def scripts(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Show how many tokens each script has in the vocabulary, and how many of its characters occur in tokens.

    A token belongs to the script of its letters. Digits, punctuation and spaces belong to no script, and are called
    Common. Tokens with letters of several scripts are in a separate row, and so are tokens that contain a part of a
    character. Special tokens, unknown tokens and tokens for single bytes of unknown characters are not counted.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.scripts(study).columns["tokens"].tolist()
    [128, 76, 58]
    """

def sizes(
    studies: Mapping[str, Learned],
    measure: Literal[
        "bytes_per_token",
        "tokens_per_pretoken",
        "renyi_efficiency",
        "share_in_use",
        "share_of_scaffolds",
        "bits_per_byte",
        "inside",
        "tokens_per_word",
    ] = "bytes_per_token",
    held_out: GivenTexts | None = None,
    each: bool = False,
    own: bool = False,
    lines: Sequence[str] = (),
    power: float = 2.5,
    bits: bool = False,
    model: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show how well each vocabulary size compresses, how much of the vocabulary is used, and how evenly.

    The answer marks one size. It is the smallest vocabulary that could be halved with less than 5 % more tokens in the
    text. Further training does not change the marked size.

    Parameters
    ----------
    studies : Mapping[str, Study]
        The studies by names that you choose: {'ours': study}.
    measure : str, optional
        The measure to draw: bytes_per_token, tokens_per_pretoken, renyi_efficiency, share_in_use,
        share_of_scaffolds, bits_per_byte, inside.
    held_out : Any, optional
        Held-out texts, which were not learned from; each named text has its own curve: everything that
        `bpe.train` takes.
    each : bool, optional
        Show each file or group of the texts separately.
    own : bool, optional
        Also show the texts that a session was learned from.
    lines : Sequence[str], optional
        Draw only these curves.
    power : float, optional
        The order of the Rényi entropy.
    bits : bool, optional
        Also measure bits per byte on held-out text, by a small model of token pairs.
    model : str, optional
        Show what each size costs this model: d=4096,layers=32,heads=32,tied=no, or its config.json.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> [round(value, 2) for value in bpe.sizes({"ours": study}).columns["bytes_per_token"]]
    [1.0, 1.13, 1.26, 1.42, 1.62, 1.79, 2.0]
    """

def steps(
    study: Learned,
    *,
    work: Work | None = None,
) -> Answer:
    """List all steps: the pair or token, its count, and the runner-up.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.steps(study).columns["token_text"]
    ['we', 'lo', '␣n', '␣ne', '␣lo', '␣lowe']
    """

def supermerges(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Show how merges within words compete with merges of whole words: the more frequent pair is merged.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Show the two pairs that compete after the first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest " * 9, "boundless", merges=6)
    >>> bpe.supermerges(study).sentences[0]
    '0 of 6 merges are across words.'
    """

def sweep_results(
    results: str,
    measure: str = "bytes_per_token",
    lines: Sequence[str] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Draw a measure of all runs in a table that `sweep` wrote, with a band for the range over several samples.

    Parameters
    ----------
    results : str
        The table that `sweep` has written.
    measure : str, optional
        The measure to draw: bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use,
        unknown_share, bits_per_byte, morpheme_precision, morpheme_recall, morpheme_f1.
    lines : Sequence[str], optional
        Draw only these lines.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> from tempfile import TemporaryDirectory
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> two = {"ours": study, "half": study.at(3)}
    >>> curves = bpe.curves(two, held_out=["the lowest"])
    >>> with TemporaryDirectory() as folder:
    ...     bpe.write_data(curves.table, f"{folder}/runs.csv")
    ...     answer = bpe.sweep_results(f"{folder}/runs.csv")
    >>> len(answer.table) == len(curves.table)
    True
    """

def ties(
    study: Learned,
    at: int | None = None,
    what_if: Literal["first-seen", "lowest-ids", "byte-alphabet", "smallest-text", "largest-text", "largest-printed"]
    | None = None,
    text: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """List the steps that a tie decided, and show the effect of another tie rule.

    Each row has the winner and the pair that tied with it. If a later step merged the tied pair, the row also names
    this step.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the first K steps (default: all steps).
    what_if : str | None, optional
        Learn again by this tie rule: first-seen, lowest-ids, byte-alphabet, smallest-text, largest-
        text, largest-printed.
    text : str, optional
        Show how both rules split this text.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ties(study).columns["step"]
    [2, 3, 5, 6]
    """

def token(
    study: Learned,
    token: str,
    at: int | None = None,
    words: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Show the life of a token: its parts, its count over time, its words, and where it occurs.

    A new token gets all its occurrences at once. From then on larger tokens take occurrences away. Before the token
    exists, its count is the count of the pair that becomes the token.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    token : str
        The token as the merge table writes it, or its id as #ID.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    words : bool, optional
        List all words that hold the token, with their counts.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.token(study, "␣lowe").sentences[0]
    '␣lowe (id 261, step 6: ␣lo + we) occurs 2 times after 6 merges; 2 at its peak.'
    """

def tree(
    study: Learned,
    text: str = "",
    byte: int = 0,
    at: int | None = None,
    specials: Literal["", "all", "none"] = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show how a word is merged: each token, the symbols it covers, and the step that makes it.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    text : str, optional
        A text that holds the word.
    byte : int, optional
        The place in the text, in bytes (default: 0).
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    specials : Literal['', 'all', 'none'], optional
        Match all special tokens that occur in the text, or none (default: as the library of the file
        does).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.tree(study, "lowest").columns["text"]
    ['l', 'o', 'lo', 'w', 'e', 'we', 's', 't']
    """

def twins(
    study: Learned,
    at: int | None = None,
    *,
    work: Work | None = None,
) -> Answer:
    """Show which tokens differ only in a leading space or in capitals, and their share of the vocabulary.

    A token that continues a word, such as `##s`, is a twin of the same token at the beginning of a word. Tokens
    that hold a part of a character have no twins.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.twins(study).columns["texts"][:2]
    ['N n ␣n', 'A a']
    """

def ways(
    study: Learned,
    text: str = "",
    at: int | None = None,
    dropout: float = 0.1,
    seed: int = 1,
    draws: int = 100,
    shares: Literal["dropout", "sampled", "uniform"] = "dropout",
    word: int = 0,
    *,
    work: Work | None = None,
) -> Answer:
    """Show the ways to split a text by one vocabulary. A model that is trained on random splits sees many ways.

    The answer splits the text as the tokenizer does, by always taking the longest token that fits, into the fewest
    tokens, in the most probable way, and in three random ways. Without a text, the answer gives the number of
    tokens that each way needs for a whole corpus.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    text : str, optional
        The text whose splits are shown (default: none; the tokens of the corpus are then counted).
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    dropout : float, optional
        The probability of leaving out a merge (default: 0.1).
    seed : int, optional
        The seed of the random draws (default: 1).
    draws : int, optional
        How many random splits of the text to draw (default: 100).
    shares : Literal['dropout', 'sampled', 'uniform'], optional
        The way whose probabilities the lattice shows (default: dropout, if the tokenizer has dropout).
    word : int, optional
        Draw the lattice of the N-th word (default: the word with the most ways).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ways(study, "low").columns["split"][:3]
    ['lo | w', 'lo | w', 'lo | w']
    """

def why(
    study: Learned,
    text: str,
    at: int | None = None,
    all: bool = False,
    allow_special: bool = False,
    specials: Literal["", "all", "none"] = "",
    steps: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Show why a text is split where it is.

    Each boundary between two bytes has one reason. The reasons are the pattern, a pair that was never learned, a merge
    that comes later, and an earlier merge that took one of the tokens.

    Parameters
    ----------
    study : Study
        The study that `train` or `open` returned, or a history.
    text : str
        The text.
    at : int | None, optional
        Ask about the table after its first K steps (default: all steps).
    all : bool, optional
        Include the boundaries that merges have removed.
    allow_special : bool, optional
        The same as specials="all".
    specials : Literal['', 'all', 'none'], optional
        Match all special tokens that occur in the text, or none (default: as the library of the file
        does).
    steps : bool, optional
        Show how each word is encoded, merge by merge.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.why(study, "lowest").columns["kind"]
    ['never', 'never', 'never']
    """
