"""The widgets and small helper modules that several topics of the window share."""
