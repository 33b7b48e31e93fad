"""How studies run: work in pieces, engines that share it out, a store that remembers it."""
