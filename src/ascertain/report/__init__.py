"""What a person reads: trees, tables and pages, drawn from records. Nothing here computes."""
