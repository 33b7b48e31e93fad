"""The verbs: each parses its options, calls one road, and shows the result."""
