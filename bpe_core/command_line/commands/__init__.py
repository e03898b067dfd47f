"""The commands of `bpe-explorer` that are not questions and need no window, in groups. Each has a line for the help.

Each command has a file with its name. The file has `add_arguments(parser)`, and `run(options)`, which returns the exit
code. Only the file of the chosen command is loaded.
"""

GROUPS: dict[str, dict[str, str]] = {
    "Learn": {
        "train": "Learn a merge table from text",
        "count": "Count the words of texts of any size, and save the counts to train from them or combine them",
        "sweep": "Train and measure every combination of a plan's recipes, corpora, tie rules, sizes and samples",
        "follow": "Follow a training run in another program: print its steps as lines of JSON until it ends",
        "words": "Watch words being merged, step by step",
        "presets": "List all preset recipes, or print a recipe as JSON",
    },
    "Encode": {
        "encode": "Turn text into token ids",
        "decode": "Turn token ids back into text",
        "bench": "Measure how fast a tokenizer encodes here and in its original library, and compare the ids",
    },
    "Tables of other libraries": {
        "export": "Write a merge table for another library, and check that file and table agree",
        "convert": "Turn a tokenizer's file into another format",
        "shelf": "Split a text by the tokenizers of well-known models, which are fetched only on demand",
        "import": "List the tokenizers in the Hugging Face cache, or describe a tokenizer",
    },
    "Change a table": {
        "branch": "Branch a saved run: forbid or force a pair at a step, and train on from there",
        "extend": "Continue training any tokenizer on new texts, with all its ids kept",
        "trim": "Remove tokens from a table: chosen tokens, the least used, or tokens that an audit finds",
        "replace": "Replace the tokens that a corpus needs least by the best new tokens, which take over their ids",
        "merge": "Combine two tables into one that keeps the ids of the first",
        "specials": "List, rename, add or remove special tokens, with all ids kept",
    },
    "Show a run": {
        "report": "Write a report of a run as one HTML page",
        "share": "Write runs as one web page that works offline: it splits any text and plays all steps",
        "film": "Make a film of a run, or of two runs side by side, for a chat, a slide or a README",
    },
    "Make a file smaller": {
        "compress": "Compress a file with the algorithm of 1994 from which byte-pair encoding comes",
        "expand": "Restore the original of a file that `compress` has written",
    },
    "Check results": {
        "verify": "Check whether a session or table is valid",
        "exercise": "Answer the questions of an exercise about a trainer, for your texts or for ours",
        "pin": "Save the ids of texts that are hard to split, so that `check --pins` finds later changes",
        "repeat": "Run the command of a manifest again, and check whether the result is identical",
    },
    "The program": {
        "doctor": "Describe this installation: packages, machine code, folders, memory, the window",
        "completion": "Print a script that completes these commands in bash, zsh or fish",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
QUESTIONS_ABOUT = "Questions about"  # the beginning of the titles of commands that are made from questions
