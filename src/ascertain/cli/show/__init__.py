"""How results and progress appear in a terminal."""
