def accept_csr(offsets, children, tokens, target):
    node, accepted = 0, []
    while True:
        for slot in range(offsets[node], offsets[node + 1]):
            child = children[slot]
            if tokens[child] == target[node]:
                break
        else:
            return accepted
        accepted.append(child)
        node = child
