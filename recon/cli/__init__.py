"""The one door to typer: parses words, prints, exits."""
