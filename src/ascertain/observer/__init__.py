"""The decision, without input or output: stages, risk and counters of an observer that answers or abstains."""
