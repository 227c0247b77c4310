"""Copy bandwidth: reads and writes in equal parts."""
