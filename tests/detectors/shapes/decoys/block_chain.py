from hashlib import sha256


def find_cached(block_hashes, table):
    hit = []
    for h in block_hashes:
        b = table.get(h)
        if b is None:
            break
        hit.append(b)
    return hit


def walk(root, hashes):
    cur = root
    n = 0
    while n < len(hashes):
        nxt = cur.children.get(hashes[n])
        if nxt is None:
            break
        cur = nxt
        n += 1
    return cur, n
