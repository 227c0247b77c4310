def match_prefix(root, key, page):
    node = root
    values = []
    while len(key) > 0 and key[0] in node.children:
        child = node.children[key[0]]
        length = 0
        for a, b in zip(child.key, key):
            if a != b:
                break
            length += 1
        if length < len(child.key):
            values.append(child.value[:length])
            return values, child
        values.append(child.value)
        node = child
        key = key[length:]
    return values, node
