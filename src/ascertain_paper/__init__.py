"""The paper's studies, their testbed and the campaigns that run them; nothing in `ascertain` imports this package."""
