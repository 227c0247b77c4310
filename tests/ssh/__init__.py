"""OpenSSH servers of our own on loopback, and what is asked of them."""
