"""From a run to text. Pure: opens no file."""
