"""Functions that recognize files which are not merge tables, by their first bytes.

Each kind of file has a sentence that says what to do.
"""

from __future__ import annotations

import re

from bpe_core.formats.base import TO_UTF8

LOOK = 20_000  # bytes

_OBJECT_WITH = rb"""\s*\{(?s:.*?)"(%b)"\s*:"""
_FORM = "holds tokens in an unknown form; the files that other programs write have them in"
OTHERS = (  # the beginnings of files that are no tables, each with a sentence about it
    (
        rb"version https://git-lfs",
        "is only a pointer of Git LFS, and the file itself was not fetched; fetch it with: git lfs pull",
    ),
    (
        rb"\xff\xfe|\xfe\xff",
        "is UTF-16, but only UTF-8 can be read; convert it with: iconv -f UTF-16 -t UTF-8 OLD > NEW.",
    ),
    (
        rb"PK\x03\x04|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|(?s:.{257})ustar",
        "is an archive, as are many of PyTorch's files; unpack it, and open the tokenizer in it.",
    ),
    (
        rb"\x89HDF|\x93NUMPY|\xba\x16\x4f\x2f|lCRF|(?s:.{5})\0\0\0\{\"",
        "holds the weights of a model, but not its tokenizer; open tokenizer.json or another table in its folder.",
    ),
    (
        rb"""[A-Za-z0-9]{8}\{(?s:.*?)"(vocab|merges)"\s*:""",
        "has eight extra characters before its JSON; remove them, and open it again.",
    ),
    (
        rb"\0\x05\x16\x07",
        "holds only notes of macOS about a file; open the file whose name is without ._ at its beginning.",
    ),
    (
        rb"v3;(true|false);(true|false);",
        "holds codes of OpenNMT's Tokenizer, which this program cannot read.",
    ),
    (
        rb"(word|uniformbpe) v1\r?\n",
        "is a model of the older program for BoundlessBPE. Such models cannot be read. Train a new model with "
        "--method boundless, or with the newer program fastboundlessbpe.",
    ),
    (
        rb"(?!minbpe v1\r?\n)(?!\d+ \d+\r?\n)([^\n]{0,500}\n){1,2}\d{1,5}\r?\n(\S+ \d+\r?\n){0,99}?(\d{1,6}\r?\n)?"
        rb"(\d+ \d+\r?\n){3}",
        "looks like a model of a program based on minbpe. Models of minbpe begin with the line 'minbpe v1' and a "
        "line with the pattern. If only these two lines are missing, add them.",
    ),
    (
        rb"(\d+([ ,]\d+)+[ ,]?\r?\n){4}",
        "holds only numbers: it may be a text as ids, merges as ids, a dictionary of fairseq, or an incomplete model "
        "of YouTokenToMe. This program cannot open such a file.",
    ),
    (
        rb"(<unk>|<s>|<pad>|</s>|\xe2\x96\x81)[^\t\n]*\t-?\d[^\n]*\n|([^\t\n]+\t-?\d[^\t\n]*\n){0,500}?[^\t\n]+\t-\d",
        "looks like the readable list of pieces that SentencePiece writes; open the .model file in its folder.",
    ),
    (
        rb"(([^\s{\[]+|\[\w+\])([ \t]+|,| ?: | -> )\d+\r?\n){3}",
        "looks like a list of words with numbers, such as fairseq's dict.txt. It does not say how texts are split, so "
        "open the codes or the .model in its folder. To learn from its counts, use --word-list.",
    ),
    (
        rb"(\d+ \d+\r?\n)?\S+( -?\d+\.\d+){9}",
        (
            "holds vectors of words or tokens, which do not say how texts are split; open the tokenizer they were made "
            "with."
        ),
    ),
    (
        rb"(?i)\s*<(!doctype html|html)",
        "is a web page; download the file that it shows.",
    ),
    (
        rb"(?i)((temporary|permanent) redirect|moved permanently|found\. redirect|(entry|repository|page) not found"
        rb"|invalid (credentials|username)|access to (model|this)|unauthorized|forbidden|too many requests)[^\n]*\s*\Z",
        "is the answer of a web site that did not send the file; download it again.",
    ),
    (
        rb"[^\n{\[]{0,300}[/\\][^\n]{1,200}\.[a-z]{2,9}\s*\Z",
        "holds only the path of another file, like a copied link; open the other file.",
    ),
    (
        rb"\x80[\x02-\x05]",
        "holds objects of a Python program (pickle), which can run code when they are read, so it is not opened. "
        "With the program that made it, write a tokenizer.json or .tiktoken file, and open that file.",
    ),
    (
        rb"(lmgg|fmgg|tjgg|algg)",
        "is a language model in a format older than GGUF; convert it to GGUF with llama.cpp first.",
    ),
    (
        rb"(\[[^\n]*\] \d+\r?\n){3}",
        "looks like the readable list that minbpe writes; open the .model file in its folder.",
    ),
    (
        rb"(### [^\n]*\n)*('[^\n]+'\n){5}",
        "looks like a list of subwords of Tensor2Tensor, which this program cannot read.",
    ),
    (
        rb"(\d+\t[^\t\n]+\r?\n){4}",
        "looks like a list of ids and tokens, which does not say how texts are split; open the tokenizer that it was "
        "made from.",
    ),
    (
        rb"(?s:(.*?\n)?)\[UNK\]\r?\n((?s:.*?)\n)?[^\s\[{][^\n]*[^\s] [^\s]",
        "lists tokens with [UNK] among them, as BERT's vocab.txt does. But some tokens hold a space, which is "
        "impossible for BERT. The list belongs to another kind of tokenizer, and does not say to which kind.",
    ),
    (
        rb"""(b['"][^\n]{1,80}['"] b['"][^\n]{1,80}\n|\[[^\n]{1,80}\] -> [^\n]{1,80}\n|[^\n]{1,80} \+ [^\n]{1,80}\n"""
        rb"""|\S+\t\S+\r?\n|\S+ \S+ \d+\r?\n){4}""",
        "looks like merges in an unknown form; a list of merges has two tokens in each line with one space between, "
        "and bytes as GPT-2 writes them.",
    ),
    (
        rb"(?s:.{4})\0\0\0\0\x05\0\0\0<unk>|(?s:..\0\0(.{4}[\x01-\x40]\0\0\0[\x09-\x7e\x80-\xf4]{1,64}?){3})",
        "is the copy of a tokenizer that llama2.c reads; open the tokenizer.model that it was made from.",
    ),
    (
        rb"""\s*"?\{(?s:.{0,200}?)\\?"class_name\\?"\s*:\s*\\?"Tokenizer|""" + _OBJECT_WITH % b"word_index|index_word",
        "is a word index of Keras, which holds only whole words. This program cannot open such a file.",
    ),
    (
        _OBJECT_WITH % b"model_type|architectures|hidden_size|num_hidden_layers",
        "describes a model and holds no tokens; open tokenizer.json or another table in its folder.",
    ),
    (
        _OBJECT_WITH % b"tokenizer_class|chat_template|model_max_length|add_prefix_space|added_tokens_decoder",
        "says how a tokenizer is used and holds no tokens; open tokenizer.json or vocab.json in its folder.",
    ),
    (
        rb"""\s*\{\s*"unk_id"\s*:[^,]*,\s*"vocab"\s*:""",
        "is only Unigram's model, which does not say how texts are normalized and split; save the whole tokenizer "
        "with save() of the tokenizers library, and open that file.",
    ),
    (
        _OBJECT_WITH
        % b"vocab(?:ulary)?|merges|itos|stoi|[a-z]+(?:_to_|2)(?:id|idx|ind|index)|(?:id|idx)(?:_to_|2)[a-z]+",
        f'{_FORM} "model".',
    ),
    (
        _OBJECT_WITH % b"bos_token|eos_token|unk_token|pad_token|additional_special_tokens",
        "only names the roles of special tokens; open tokenizer.json or vocab.json in its folder.",
    ),
    (
        rb"""\s*\{\s*"\d+"\s*:\s*"|\s*\[\s*[\[{]""",
        f'{_FORM} JSON objects: vocab.json gives each token its id, and tokenizer.json holds everything in "model".',
    ),
    (
        rb"""\s*\[\s*"[^"]*"\s*,\s*"|([^\s{}"]{1,40}\r?\n|\d+(\t|: | -> | )[^\n]{1,40}\n){5}""",
        "looks like a list of tokens or words, which does not say how texts are split into them. BERT's vocab.txt, "
        "which can be read, has [UNK] among its tokens.",
    ),
    (
        rb"\s*\{\s*\"",
        'is JSON, but not a tokenizer: tokenizer.json has "model", tekken.json has "config" and "vocab", and '
        "vocab.json has only tokens with their numbers.",
    ),
    (
        rb"(?s:.*?@@ ){5}|(?s:.*? \xe2\x96\x81){9}",
        "looks like a text that was split into tokens; open the file of codes or the .model by which it was split.",
    ),
    (
        rb"(\S+ \S+\r?\n){9}",
        "has two texts in each line, like merges, but does not say what begins or ends words; put its vocab.json "
        "into the same folder.",
    ),
    (
        rb"( {0,2}\S{1,40} {1,2}\S{0,40} ?\r?\n|  \S{1,40}\r?\n){9}",
        "looks like merges whose tokens hold plain spaces, so it is unclear where the first of two tokens ends. "
        "Write Ġ for each space in a token, as GPT-2 does, or open the tokenizer.json that was made with this file.",
    ),
)
_NOT_IN_TEXTS = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def sentence_about_other(data: bytes, name: str) -> str:
    """Return a sentence that names the kind of this file. Return an empty string if the kind is unknown."""
    head = data[:LOOK]
    advice = next((sentence for beginning, sentence in OTHERS if re.match(beginning, head)), "")
    if not advice and not _is_utf8(head) and not _NOT_IN_TEXTS.search(head):
        advice = f"is not UTF-8. A table in text must be UTF-8; {TO_UTF8}"
    return f"{name} {advice}" if advice else ""


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and len(head) == LOOK
    return True
