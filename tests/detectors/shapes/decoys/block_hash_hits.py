def find_longest_cache_hit(block_hashes, pool, limit):
    hits = []
    for block_hash, _ in zip(block_hashes, range(limit)):
        block = pool.get_cached_block(block_hash)
        if block is None or block.block_hash != block_hash:
            break
        hits.append(block)
    return hits
