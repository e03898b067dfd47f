"""A tokenizer as a folder that other libraries can load: its file, the roles of its tokens, and a README."""
