"""Every chart and list as a table of exact values: what a picture of it, rounded and thinned, is drawn from."""
