"""The form that shows and changes the recipe."""
