"""How text becomes words if a file says so in an order of its own: a list of small steps, each a frozen value.

pieces          stretches of text that know where each character came from, how to cut them, and added tokens
expressions     regular expressions as the engine of those files reads them
normalizers     steps that change a text as a whole
pre_tokenizers  steps that cut it into words
steps           all steps by their names, to JSON and back, and at work on texts

A recipe keeps as steps only what its other choices cannot say.
"""
