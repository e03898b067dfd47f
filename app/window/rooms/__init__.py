"""The rooms of the window, and the parts of Watch, which shows a person's word step by step."""
