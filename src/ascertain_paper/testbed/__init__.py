"""The testbed: two Boolean plants, their operations and fresh streams, drawn from seeds."""
