"""The small parts that several topics of the window use."""
