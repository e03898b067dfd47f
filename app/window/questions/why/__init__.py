"""Why is the text cut here?"""
