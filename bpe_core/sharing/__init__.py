"""The pages that show a run in a browser without a connection.

A page holds the packed data of the run, and the scripts of `resources/share` that read them.
"""
