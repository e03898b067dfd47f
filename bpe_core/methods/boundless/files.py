"""The table format that can store the steps of BoundlessBPE. It is the format of the method's authors."""

from bpe_core.support.format_row import Row

TABLES = frozenset({"boundless"})
INSTEAD = "choose boundless, which its authors' program loads, or a table such as csv"

FORMATS = {
    "boundless": Row(
        "BoundlessBPE's model: the steps of both passes, as the published program loads them.",
        "bpe_core.methods.boundless.model_file",
        (".boundless.model",),
        mark=b"BoundlessBPE",
        purpose="for BoundlessBPE's program",
    )
}
