"""The studies. A study is a vocabulary with its history, its ids, and the texts that questions are about."""
