def _key_match_paged(key0, key1, page_size):
    min_len = min(len(key0), len(key1))
    i = 0
    while i < min_len:
        if key0[i : i + page_size] != key1[i : i + page_size]:
            break
        i += page_size
    return i
