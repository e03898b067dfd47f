"""The small parts that several topics use."""
