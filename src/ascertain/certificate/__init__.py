"""What convinces a stranger: results as plain data that `ascertain_check` verifies against the task."""
