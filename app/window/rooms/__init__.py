"""The rooms of the window, and the parts of the room Watch, which shows a user's word step by step."""
