"""The KV of an accepted path, moved together in all layers by one launch."""
