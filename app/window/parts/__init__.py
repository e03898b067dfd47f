"""Small parts that several topics use."""
