"""A run as one web page that needs no connection.

It has packed data, and the scripts of `resources/share` that read it.
"""
