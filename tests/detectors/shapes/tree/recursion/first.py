def longest_accepted_path(tree, node, draft_tokens, target_tokens):
    """Longest path below a node all of whose tokens the target would have chosen."""
    best_path = []
    for child in tree.children(node):
        if draft_tokens[child] == target_tokens[node]:
            path = [child] + longest_accepted_path(tree, child, draft_tokens, target_tokens)
            if len(path) > len(best_path):
                best_path = path
    return best_path
