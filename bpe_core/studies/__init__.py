"""The studies. A study is a vocabulary with its history, its ids and its texts, about which a user asks questions."""
