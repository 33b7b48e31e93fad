"""One file a claim: what a result says, as plain data with the claim's name under "claim"."""
