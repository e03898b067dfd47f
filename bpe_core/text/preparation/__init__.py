"""How text becomes words if a file lists small steps of its own: only what the other choices of a recipe cannot say."""
