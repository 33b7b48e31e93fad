"""What cannot be beaten: lower bounds on the cost of every experiment."""
