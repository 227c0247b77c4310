"""From an install or a release to content-addressed blobs."""
