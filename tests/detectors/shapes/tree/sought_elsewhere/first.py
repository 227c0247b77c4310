def follow(root, want):
    node, out = root, []
    while (found := node.children.get(int(want[node.index]))) is not None:
        out.append(found.index)
        node = found
    return out
