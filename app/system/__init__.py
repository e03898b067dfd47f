"""The connection of the program with the desktop and the operating system."""
