def follow_verified_tree(child_maps, posterior):
    posterior_tokens = posterior[0].tolist()
    accepted = [0]
    current = 0
    next_token = posterior_tokens[current]
    while next_token in child_maps[current]:
        current = child_maps[current][next_token]
        accepted.append(current)
        next_token = posterior_tokens[current]
    return accepted, next_token
