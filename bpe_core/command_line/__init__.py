"""The commands of the program. They need no window.

`main.py` chooses the command, and `commands/` has a file for each command. The other files hold the parts that several
commands share.
"""
