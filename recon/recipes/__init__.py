"""Files that a person puts beside an engine: each stands alone, without recon."""
