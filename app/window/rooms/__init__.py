"""The rooms of the window, and the parts of Watch: a person's word, put together step by step."""
