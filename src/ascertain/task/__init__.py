"""What is to be ascertained: hypotheses, labels, costs and risk, and the problem file that states them."""
