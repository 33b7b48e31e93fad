"""The command line: one file a verb. A verb parses, calls and prints; what it needs it imports when it runs."""
