def follow(node, want):
    out = []
    while True:
        kid = node.first
        while kid is not None and kid.token != want[node.row]:
            kid = kid.next
        if kid is None:
            return out
        out.append(kid.row)
        node = kid
