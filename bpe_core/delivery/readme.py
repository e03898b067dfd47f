"""What lies in the folder for whoever finds it: what the tokenizer is, and how each library loads it."""

from __future__ import annotations

from bpe_core.delivery.roles import MEANINGS, Roles
from bpe_core.history.history import History
from bpe_core.learning.methods import METHODS

_TEXT = """\
# A tokenizer of {size:,} tokens

Learned by {method} with BPE Explorer. It splits and cuts texts as `tokenizer.json` says; nothing is put
around a text by itself.
{roles}
## Loading it

With transformers (`pip install transformers`), from the folder that holds this one:

```python
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{{folder}}")
tokenizer("the lowest price").input_ids
{batch}{chat}```

With tokenizers alone:

```python
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("{{folder}}/tokenizer.json")
tokenizer.encode("the lowest price").ids
```

With BPE Explorer, which shows how the tokens came to be and why a text is cut where it is:

```python
from bpe_core import Tokenizer
from bpe_core.formats import open_table

opened = open_table("{{folder}}/tokenizer.json")
opened.numbers_of(Tokenizer(opened.history).encode("the lowest price"))
```
"""
_BATCH = 'tokenizer(["the lowest price", "the"], padding=True)  # a batch: {pad} fills the second up\n'
_CHAT = 'tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False)\n'


def readme_of(history: History, folder: str, roles: Roles, has_template: bool) -> str:
    lines = "".join(f"- `{role}_token` is `{text}`: it {MEANINGS[role]}.\n" for role, text in roles.given.items())
    return _TEXT.format(
        size=history.vocabulary_size,
        method=METHODS[history.recipe.method].title,
        roles=f"\n{lines}" if lines else "",
        batch=_BATCH.format(pad=roles.pad) if roles.pad else "",
        chat=_CHAT if has_template else "",
    ).replace("{folder}", folder)
