"""What a plan holds, told to people and scripts: words, Markdown, JSON and a graph."""
