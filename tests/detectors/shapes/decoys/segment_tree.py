def find_prefix(tree, size, mass):
    at = 1
    while at < size:
        at *= 2
        if tree[at] <= mass:
            mass -= tree[at]
            at += 1
    return at - size
