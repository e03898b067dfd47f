"""The view of the text: an editor that colours each token, the ids beside it, and the counts below."""
