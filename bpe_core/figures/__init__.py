"""The figures as data, and the painter that draws all of them."""
