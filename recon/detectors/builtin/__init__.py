"""The detectors that recon brings."""
