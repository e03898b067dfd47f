"""The list of questions in the room Ask."""
