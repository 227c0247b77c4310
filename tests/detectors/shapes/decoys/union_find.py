def find(parent, x):
    root = x
    while parent[root] != root:
        root = parent[root]
    while parent[x] != root:
        parent[x], x = root, parent[x]
    return root


def same_component(parent, labels, a, b):
    return find(parent, a) == find(parent, b) and labels[a] == labels[b]
