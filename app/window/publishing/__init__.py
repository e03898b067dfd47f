"""The files about runs for other people: reports, pages to share, films."""
