"""A tokenizer as a folder that other libraries load at once: its file, the roles of its tokens, and a README."""
