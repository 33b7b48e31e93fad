"""What a person reads: figures. Nothing here computes."""
