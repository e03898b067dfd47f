"""The token text: an editor that colours each token, the list of ids beside it, and the counts below."""
