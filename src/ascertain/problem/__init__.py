"""The problem file: everything that it can say, turned into models, questions, operations, observers and plants."""
