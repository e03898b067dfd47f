"""The program without its window: main.py chooses the command, commands/ has one file for each.

What lies beside main.py are the parts that several commands share.
"""
