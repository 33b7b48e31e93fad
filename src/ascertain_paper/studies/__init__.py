"""The studies, each with its measurements and its tables."""
