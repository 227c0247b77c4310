def select_longest(paths, tree_tokens, target_argmax):
    best_len, best_path = 0, None
    for path in paths:
        length = 0
        for prev, node in zip(path, path[1:]):
            if tree_tokens[node] != target_argmax[prev]:
                break
            length += 1
        if length > best_len:
            best_len, best_path = length, path
    return best_path, best_len
