"""The commands of `bpe-explorer` that need no window, each with its line in the list of commands.

Every command is the file of its name. It offers `add_arguments(parser)`, and `run(options)`, which returns the exit
code. Only the file of the chosen command is loaded.
"""

COMMANDS = {
    "train": "Learn a merge table from text",
    "count": "Count the words of texts, of any size, into a file that adds up with others and is trained from",
    "encode": "Turn text into tokens by a merge table",
    "decode": "Turn token ids back into text",
    "export": "Write a merge table for another library, and check that it agrees",
    "import": "List the tokenizers in the Hugging Face cache, and say what one of them holds",
    "bench": "Measure how fast a tokenizer encodes here and in its own library, and compare the ids",
    "convert": "Turn a tokenizer's file into another format",
    "branch": "Go another way from a step of a saved run on: forbid a pair there, or force one",
    "extend": "Let any tokenizer go on learning on new texts, with all its ids kept",
    "trim": "Take tokens out of a table: chosen ones, the least used, or those that an audit finds",
    "merge": "Put two tables into one that keeps the ids of the first",
    "sweep": "Learn and measure what a plan says: recipes by corpora by ties by sizes by samples",
    "report": "Write a report of a run as one HTML page",
    "share": "Write runs as one web page that splits any text and plays all steps, without a connection",
    "film": "Film a run, or two side by side, as a moving picture for a chat, a slide or a README",
    "compress": "Make a file smaller as Gage did in 1994, where byte-pair encoding comes from",
    "expand": "Give back the original of a file that `compress` has written",
    "repeat": "Run the command of a manifest again, and say whether the result is identical",
    "words": "Watch words being merged, step by step",
    "verify": "Check whether a session or table is sound",
    "pin": "Write down the ids of hard texts, so that `check --pins` finds a later change",
    "doctor": "List what is in use here and why: packages, compiled code, folders, memory, the window",
    "presets": "List the recipes there are, or print one as JSON",
}
