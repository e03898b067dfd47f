"""The commands of `bpe-explorer` that need no window, in groups, with a line about each.

Every command is the file with its name. The file has `add_arguments(parser)`, and `run(options)`, which returns the
exit code. Only the file of the chosen command is loaded.
"""

GROUPS: dict[str, dict[str, str]] = {
    "Learn": {
        "train": "Learn a merge table from text",
        "count": "Count the words of texts, of any size, into a file that adds up with others and is trained from",
        "sweep": "Learn and measure what a plan says: recipes by corpora by ties by sizes by samples",
        "words": "Watch words being merged, step by step",
        "presets": "List the recipes there are, or print one as JSON",
    },
    "Encode": {
        "encode": "Turn text into tokens by a merge table",
        "decode": "Turn token ids back into text",
        "bench": "Measure how fast a tokenizer encodes here and in its own library, and compare the ids",
    },
    "Tables of other libraries": {
        "export": "Write a merge table for another library, and check that it agrees",
        "convert": "Turn a tokenizer's file into another format",
        "import": "List the tokenizers in the Hugging Face cache, and say what one of them holds",
    },
    "Change a table": {
        "branch": "Go another way from a step of a saved run on: forbid a pair there, or force one",
        "extend": "Let any tokenizer go on learning on new texts, with all its ids kept",
        "trim": "Take tokens out of a table: chosen ones, the least used, or those that an audit finds",
        "replace": "Let the tokens that a corpus needs least give their ids to the best new ones; the size stays",
        "merge": "Put two tables into one that keeps the ids of the first",
        "specials": "List, rename, add or remove special tokens, with all ids kept",
    },
    "Show a run": {
        "report": "Write a report of a run as one HTML page",
        "share": "Write runs as one web page that splits any text and plays all steps, without a connection",
        "film": "Film a run, or two side by side, as a moving picture for a chat, a slide or a README",
    },
    "Make a file smaller": {
        "compress": "Make a file smaller as Gage did in 1994, where byte-pair encoding comes from",
        "expand": "Give back the original of a file that `compress` has written",
    },
    "Be sure": {
        "verify": "Check whether a session or table is sound",
        "pin": "Write down the ids of hard texts, so that `check --pins` finds a later change",
        "repeat": "Run the command of a manifest again, and say whether the result is identical",
    },
    "The program": {
        "doctor": "List what is in use here and why: packages, compiled code, folders, memory, the window",
        "completion": "Print a script that completes these commands in bash, zsh or fish",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
QUESTIONS_TITLE = "Questions about a table"  # the group of commands that are made from questions
