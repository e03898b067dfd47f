"""The pages that show a run in a browser, even without a network connection.

A page holds the packed data of the run, and the scripts of `resources/share` that read them.
"""
