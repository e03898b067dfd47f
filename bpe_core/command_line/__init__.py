"""The program without its window: main.py chooses the command, and commands/ has one file for each.

The other files hold the parts that several commands share.
"""
