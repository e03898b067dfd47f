"""Functions and classes that connect the program with the desktop and the operating system."""
