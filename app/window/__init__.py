"""The window. Each topic has its own folder with models and views.

The models hold the content, and the views draw it.
"""
