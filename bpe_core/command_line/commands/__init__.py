"""The commands of `bpe-explorer` that need no window, each with its line in the list of commands.

Every command is the file of its name. It offers `add_arguments(parser)`, and `run(options)`, which returns the exit
code. Only the file of the chosen command is loaded.
"""

COMMANDS = {
    "train": "learn a merge table from text",
    "count": "count the words of texts, of any size, into a file that adds up with others and is trained from",
    "encode": "turn text into tokens by a merge table",
    "decode": "turn token ids back into text",
    "export": "write a merge table for another library, and check that it agrees",
    "import": "list the tokenizers in the Hugging Face cache, and say what one of them holds",
    "bench": "measure how fast a tokenizer encodes here and in its own library, and compare the ids",
    "convert": "turn a tokenizer's file into another format",
    "branch": "go another way from a step of a saved run on: forbid a pair there, or force one",
    "extend": "let any tokenizer go on learning on new texts, with all its ids kept",
    "trim": "take tokens out of a table: chosen ones, the least used, or those that an audit finds",
    "merge": "put two tables into one that keeps the ids of the first",
    "sweep": "learn and measure what a plan says: recipes by corpora by ties by sizes by samples",
    "report": "write a report of a run as one HTML page",
    "share": "write runs as one web page that splits any text and plays all steps, without a connection",
    "film": "film a run, or two side by side, as a moving picture for a chat, a slide or a README",
    "compress": "make a file smaller as Gage did in 1994, where byte-pair encoding comes from",
    "expand": "give back the original of a file that `compress` has written",
    "repeat": "run the command of a manifest again, and say whether the result is identical",
    "words": "watch words being merged, step by step",
    "verify": "check whether a session or table is sound, and save the sound parts of a damaged one",
    "pin": "write down the ids of hard texts, so that `check --pins` finds a later change",
    "doctor": "list what is in use here and why: packages, compiled code, folders, memory, the window",
    "presets": "list the recipes there are, or print one as JSON",
}
