"""What would have come of another choice?"""
