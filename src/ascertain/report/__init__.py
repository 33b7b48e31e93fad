"""What a person reads: figures, tables and pages, drawn from records. Nothing here computes."""
