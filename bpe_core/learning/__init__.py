"""From counts to steps: what a learner is, how ties are decided, and one folder a method."""
