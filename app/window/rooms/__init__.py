"""The rooms of the window, and the parts of the room Watch, which shows a person's word step by step."""
