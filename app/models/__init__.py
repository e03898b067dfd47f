"""What the views observe: the session, arranged for showing."""
