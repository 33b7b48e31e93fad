"""The paper's experiments: one file a table or figure."""
