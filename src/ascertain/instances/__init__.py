"""Named models and the testbed, shared by tests, documentation and benchmarks."""
