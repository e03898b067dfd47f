"""The studies. A study is a history with the ids of its file and with texts, about which questions can be asked."""
