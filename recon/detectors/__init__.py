"""One file a capability: page, detector and cases."""
