def flatten(tree, names, wanted, prefix=()):
    out = []
    for key in tree[prefix[-1]] if prefix else tree:
        if names[key] == wanted:
            return [*prefix, key]
        out += flatten(tree[key], names, wanted, (*prefix, key))
    return out
