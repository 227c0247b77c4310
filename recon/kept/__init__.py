"""What a scan keeps of a tree besides its verdicts, so that questions need not read it again."""
