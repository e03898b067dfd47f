"""The pages of the window that answer questions about tokenizers.

A question that needs much code has a folder with its model and its page.
"""
