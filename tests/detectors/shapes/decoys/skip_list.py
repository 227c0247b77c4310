def search(forward, keys, head, level, key):
    node = head
    trail = []
    for lane in range(level, -1, -1):
        while forward[node][lane] is not None and keys[forward[node][lane]] < key[lane]:
            node = forward[node][lane]
        trail.append(node)
    node = forward[node][0]
    return node if node is not None and keys[node] == key[0] else None
