"""BoundlessBPE: merges of whole words race against merges within words."""
