"""How shells and kubectl call the program, and ask it what a word could become."""
