"""The program as the desktop and the operating system see it."""
