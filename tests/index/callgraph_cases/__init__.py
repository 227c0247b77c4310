"""Small programs with the exact edges that `recon callgraph --format pycg` tells for them, one module for each kind."""
