"""The folder of a tokenizer for other libraries: the tokenizer file, the roles of its tokens, and a README."""
