"""The rooms of the window, and what is in Watch alone: a person's own word, put together while one watches."""
