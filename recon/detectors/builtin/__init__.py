"""The detectors that recon brings, one file a capability."""
