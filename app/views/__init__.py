"""The widgets: what is drawn and clicked. They show models and know nothing of the engine."""
