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
    "check",
    "compression",
    "curves",
    "diff",
    "ends",
    "floor",
    "idmap",
    "lab",
    "languages",
    "lengths",
    "look",
    "mixture",
    "morphemes",
    "paid",
    "pairs",
    "race",
    "ranks",
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
        What `train` or `open` returned, or a history.
    only : str, optional
        List only these criteria, a comma between.
    sort : str, optional
        The order of the list.
    reverse : bool, optional
        From the end of that order; of lengths the shortest first.
    rare : int, optional
        Less often than N times is rare (5).
    long : int, optional
        More than N characters are very long (20).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    measure: str = "tokens",
    power: float = 2.5,
    *,
    work: Work | None = None,
) -> Answer:
    """Measure any number of tokenizers by any number of texts, and what the same sentences cost in each language.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    texts : Any, optional
        Files and folders; each file is a text: whatever `bpe.train` takes.
    parallel : str, optional
        A folder of the same sentences, a file a language, a line a sentence; without a folder our own
        ten.
    reference : str, optional
        The language that others are compared with (en, or else the first).
    sizes : Sequence[int], optional
        Each at these sizes of its vocabulary.
    relative_to : str, optional
        Whose tokens others are compared with (the first).
    weights : Sequence[str], optional
        Sums of all texts by these shares: de=70%% code=30%%; or factors.
    sums : bool, optional
        Sums of all texts by their bytes, with a recommendation.
    measure : str, optional
        What is drawn: tokens, bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use,
        unknown_share, unencoded_share, relative_tokens, seconds, premium, byte_premium,
        single_token_share, zipf_exponent, zipf_fit.
    power : float, optional
        Of the Rényi entropy.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show what each byte stands for in the blocks of Gage's compressor, and their size after each step.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest " * 9, "gage", merges=6)
    >>> bpe.blocks(study).sentences[0]
    "How many bytes all blocks take after each step, beside today's compressors."
    """

def canonical(
    study: Learned,
    ids: Sequence[int | str] = (),
    fields: Sequence[str] = (),
    way: Literal["library", "exact"] = "library",
    specials: Literal["", "all", "none"] = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show whether ids stay the same when they are decoded and encoded again, and why not.

    A model may write tokens that its tokenizer would never give for the same text. Who decodes them and encodes the
    text, trains or answers with other ids.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    ids : Sequence[int | str], optional
        Ids, or files of them (.npy, .jsonl, or text with a row a line).
    fields : Sequence[str], optional
        The fields of a row that hold its ids, in order (else those with known names).
    way : Literal['library', 'exact'], optional
        Decode as the library of the file does, or exactly, token by token.
    specials : Literal['', 'all', 'none'], optional
        Special tokens that the text spells are all matched, or none (else as the file's library does
        it).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.canonical(study, [108, 111, 119]).columns["encoded"]
    ['257']
    """

def check(
    study: Learned,
    pins: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Check whether a table was learned right: does each merge follow from the counts?

    Each step should merge a pair that occurs most. Each row is a step that does not, and what should have been merged
    instead. Without texts it says what the table alone shows. With pins it says whether texts are still split the same.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    pins : str, optional
        Compare with the ids that `pin` has written.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.check(study).sentences[0]
    'All 6 merges follow from the counts: each took a pair that occurs most.'
    """

def compression(
    study: Learned,
    *,
    work: Work | None = None,
) -> Answer:
    """Show after each step how many tokens the corpus has, and how many base symbols are in each.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Draw one measure of many tokenizers over the size of the vocabulary.

    Runs that differ only by their random samples share a line with a band.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    measure : str, optional
        What is drawn: bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use, unknown_share,
        bits_per_byte, morpheme_precision, morpheme_recall, morpheme_f1.
    held_out : Any, optional
        Measure by texts that no run has learned from: whatever `bpe.train` takes.
    list : str, optional
        Words with their morphemes, or en or de for our own.
    lines : Sequence[str], optional
        Draw only these lines.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show where two tokenizers part ways, and why.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    text : str, optional
        A text to split by both.
    limit : int, optional
        List up to N tokens that only one has (10).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show which ends of words fall inside a token, where a prompt should not stop.

    A prompt that stops there becomes tokens that a model has never seen in such a place. With a text, its end is looked
    at: which tokens begin before it and go on, how many tokens to step back, and what the healed prompt is.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    words : Sequence[str], optional
        Files with a sentence a line, whose words are divided by spaces.
    text : str, optional
        A prompt whose end is looked at.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ends({"ours": study}, text="a low").sentences[0]
    'Step back 2 tokens: keep 1 of 3 ids, and let the next tokens begin with “␣low”.'
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
    """Show how good a vocabulary of a size could be: between a proven floor and the best one that was found.

    No vocabulary of that size, however it is found, and no way to split by it needs fewer tokens than the floor for
    these texts, split into these words. It holds for tokens of at most as many symbols as are said.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    sizes : Sequence[int], optional
        Of the vocabulary (else that of the table).
    max_length : int | None, optional
        Symbols of a token, at most (else 16, or as many as the longest of the table has).
    seconds : float, optional
        To search, for all sizes together.
    rounds : int | None, optional
        Search each size for so many rounds instead: the same result on every machine.
    alone : bool, optional
        Without what Unigram and MinGram reach.
    held_out : Any, optional
        Texts that were not learned from, in the place of those: whatever `bpe.train` takes.
    certificate : bool, optional
        With --json, the prices that prove each floor and a vocabulary that reaches the best.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.floor(study, rounds=5).columns["floor"]
    [7]
    """

def idmap(
    old: Learned,
    new: Learned,
    renamed: Sequence[tuple[str, str]] = (),
    check: str = "",
    *,
    work: Work | None = None,
) -> Answer:
    """Show what becomes of each id from one table to another.

    A token that both tables have keeps its row of a model's embeddings. The text of any other new token is split by the
    old table, and the mean of these parts is what its row may begin with.

    Parameters
    ----------
    old : Study
        What `train` or `open` returned, or a history.
    new : Study
        What `train` or `open` returned, or a history.
    renamed : Sequence[tuple[str, str]], optional
        This special token was renamed, and keeps its row.
    check : str, optional
        A map to compare with that of these tables.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    *,
    work: Work | None = None,
) -> Answer:
    """Put up to four tokenizers side by side at one size of their vocabularies.

    Texts are split into words by the first tokenizer. Without texts, the words of a run are taken.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    size : int | None, optional
        Of all vocabularies that can have it, the others are left out (else each as in its file).
    text : str, optional
        A text to split by all.
    limit : int | None, optional
        Compare the N words that are split most differently (10; all with --words).
    words : bool, optional
        List the words that are split differently instead of the curves.
    measure : str, optional
        Draw one of tokens_per_pretoken, bytes_per_token, renyi_efficiency (else all).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show how many tokens a sentence takes in each language, step by step: a river that narrows where all are served.

    The texts are the dev texts of a run that serves languages; or those of --parallel; or the groups of the corpus.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    parallel : str, optional
        A folder of the same sentences, a file a language, a line a sentence; without a folder our own
        ten.
    lines : Sequence[str], optional
        Draw only these languages.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Count the tokens of the vocabulary by their length in bytes.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        After the first K steps (else after all).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show a text as a tokenizer splits it: coloured tokens, their ids, and what is odd.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    text : str
        If left out: standard input.
    specials : Literal['', 'all', 'none'], optional
        Special tokens that the text spells are all matched, or none (else as the file's library does
        it).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.look(study, "the lowest").columns["text"]
    ['t', 'h', 'e', '␣lowe', 's', 't']
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

    Each merge took a pair that occurred most often. So in the texts it was learned from, each merge was at least as
    frequent as all that it passed over. The shares of the groups (of bytes) are those that break this the least.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    steps : int, optional
        Go by the first N merges (1,000).
    pattern : str, optional
        How texts were split, if the table does not say it (else what fits best).
    draws : int, optional
        How often documents are drawn again, for low and high (20).
    seed : int, optional
        What chance begins with (1).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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

    A word is split as it is behind a space, and counts once. Agreement is no virtue by itself: a frequent word should
    be one token, whatever its morphemes.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    list : Sequence[str], optional
        Files of words with their morphemes; else our own.
    sizes : Sequence[int], optional
        Each at these sizes of its vocabulary.
    measure : str, optional
        What is drawn: f1, precision, recall, share_whole, share_alike, words, borders, cuts, hits.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.morphemes({"ours": study}).columns["f1"].round(2).tolist()
    [0.3, 0.29]
    """

def paid(
    study: Learned,
    step: int,
    *,
    work: Work | None = None,
) -> Answer:
    """List the words that paid for a step, and how its count splits over files or groups.

    A pair's count comes from the words that hold it. The words are listed as they were when the pair was merged, the
    largest counts first.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    step : int
        The step; 1 is the first.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """List the possible next steps at any moment, the best first.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        After the first K steps (else after all).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Follow chosen pairs through the training: which led, and which merges took from them.

    A pair enters when both its tokens exist. From then on its count can only fall, each time because a merge takes one
    of its tokens away. If no pair is named, those that lost most to others are followed.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    pairs : Sequence[tuple[str, str]], optional
        Two tokens.
    steps : Sequence[int], optional
        The pair of that step.
    at : int | None, optional
        Else the pairs of the steps after the first K.
    never_won : bool, optional
        List the pairs that were only ever second.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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

    A run's own texts are shown as they were split while it was learned. WordPiece encodes them differently.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        After the first K steps (else after all).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.ranks(study).columns["text"][:3]
    ['␣ne', 'r', 's']
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
        "tokens_per_word",
    ] = "bytes_per_token",
    held_out: GivenTexts | None = None,
    each: bool = False,
    own: bool = False,
    lines: Sequence[str] = (),
    power: float = 2.5,
    bits: bool = False,
    *,
    work: Work | None = None,
) -> Answer:
    """Show what each vocabulary size would mean: compression, use, evenness.

    Half of the marked size would nearly do: the text would be less than 5 % longer. This does not depend on how far the
    training went.

    Parameters
    ----------
    studies : Mapping[str, Study]
        Such studies by names of your own: {'ours': study}.
    measure : str, optional
        What is drawn: bytes_per_token, tokens_per_pretoken, renyi_efficiency, share_in_use,
        share_of_scaffolds, bits_per_byte.
    held_out : Any, optional
        Texts that were not learned from: whatever `bpe.train` takes.
    each : bool, optional
        Each file or group of the texts by itself.
    own : bool, optional
        The texts that a session was learned from, too.
    lines : Sequence[str], optional
        Draw only these lines, named as in the table.
    power : float, optional
        Of the Rényi entropy.
    bits : bool, optional
        Held-out bits per byte of a small model of pairs of tokens.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """List all steps: the pair or token, its count, and which would have been next.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show how merges within words race against merges of whole words: the one that occurs more often is made.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        The two that race after the first K steps (else all steps).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest " * 9, "boundless", merges=6)
    >>> bpe.supermerges(study).sentences[0]
    '0 of 6 merges join words.'
    """

def sweep_results(
    results: str,
    measure: str = "bytes_per_token",
    lines: Sequence[str] = (),
    *,
    work: Work | None = None,
) -> Answer:
    """Draw a measure of all runs in a table that `sweep` has written, with the band of several samples.

    Parameters
    ----------
    results : str
        What `sweep` wrote.
    measure : str, optional
        What is drawn: bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use, unknown_share,
        bits_per_byte, morpheme_precision, morpheme_recall, morpheme_f1.
    lines : Sequence[str], optional
        Draw only these lines.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """List the steps that a tie decided; show what another rule would have done.

    Each row has the winner, the pair that tied with it, and the step that merged the loser after all.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        Of the first K steps (else of all).
    what_if : str | None, optional
        Learn again under first-seen, lowest-ids, byte-alphabet, smallest-text, largest-text, largest-
        printed.
    text : str, optional
        Show this text under both rules.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show the life of a token: its parts, its rise and fall, its words, where it occurs.

    A token is born with all its occurrences at once; from then on larger tokens take them away. Before its birth the
    pair it was made of had a life of its own.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    token : str
        As the merge table writes it, or #ID.
    at : int | None, optional
        After the first K steps (else after all).
    words : bool, optional
        List all words that hold it instead, with how often.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show how a word is put together: each token, the symbols it covers, and its step.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    text : str, optional
        A text with the word.
    byte : int, optional
        Where in the text, in bytes (0).
    at : int | None, optional
        After the first K steps (else after all).
    specials : Literal['', 'all', 'none'], optional
        Special tokens that the text spells are all matched, or none (else as the file's library does
        it).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show which tokens differ only by a leading space or capital letters, and how many places they take.

    Of WordPiece, a token that goes on with a word is a twin of the one that begins it. Tokens that hold a part of a
    character have no twins.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    at : int | None, optional
        After the first K steps (else after all).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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
    """Show the ways to split a text by one vocabulary, and what a model sees whose training draws them.

    Beside the tokenizer's own way: the longest token first, the fewest tokens, the likeliest ones, and three that leave
    it to chance. Without a text it counts the tokens of a whole corpus by each way.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    text : str, optional
        The text; without one, the corpus is counted.
    at : int | None, optional
        After the first K steps (else after all).
    dropout : float, optional
        How likely a merge is left out (0.1).
    seed : int, optional
        What chance begins with (1).
    draws : int, optional
        How often a text is drawn (100).
    shares : Literal['dropout', 'sampled', 'uniform'], optional
        The way whose chances the lattice shows (dropout, where there is one).
    word : int, optional
        The lattice of the N-th word (else of the one with the most ways).
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

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

    Each place between two bytes has one reason: the pattern, a pair that was never learned, a merge that comes later,
    or one that took a token before.

    Parameters
    ----------
    study : Study
        What `train` or `open` returned, or a history.
    text : str
        The text.
    at : int | None, optional
        After the first K steps (else after all).
    all : bool, optional
        Include the boundaries that merges have dissolved.
    allow_special : bool, optional
        The same as specials="all".
    specials : Literal['', 'all', 'none'], optional
        Special tokens that the text spells are all matched, or none (else as the file's library does
        it).
    steps : bool, optional
        Show how each word is encoded, merge by merge.
    work : Work | None, optional
        The callbacks that receive the progress and may cancel the work.

    Returns
    -------
    Answer
        Its `table` and `sentences`, and mostly a `figure`; a notebook shows all of them.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
    >>> bpe.why(study, "lowest").columns["kind"]
    ['never', 'never', 'never']
    """
