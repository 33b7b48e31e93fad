"""What may have happened: the states an operation may have ended in, compiled exactly from its log, ranked and cut."""
