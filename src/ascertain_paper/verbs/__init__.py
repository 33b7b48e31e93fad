"""The verbs of the command line that come with the paper; `ascertain` finds them by entry point."""
