"""Pure arithmetic: from verdicts and measurements to a decision."""
