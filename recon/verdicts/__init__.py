"""From evidence to verdicts, by written rule."""
