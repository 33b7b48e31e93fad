"""Is the plant the model at all? Evidence that it conforms, and suites of words that would show that it does not."""
