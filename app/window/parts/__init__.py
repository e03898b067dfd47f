"""The widgets and small helper modules that several packages of the window share."""
