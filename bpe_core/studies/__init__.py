"""The studies: a study is a history with its file's ids and texts, about which questions can be asked."""
