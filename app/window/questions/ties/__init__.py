"""What the ties decided."""
