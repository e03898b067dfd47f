"""All runs measured by many texts."""
