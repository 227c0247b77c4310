def walk_by_parents(parents, tokens, target_ids):
    current = 0
    accepted = []
    for i in range(1, len(tokens)):
        if parents[i] == current and tokens[i] == target_ids[current]:
            accepted.append(i)
            current = i
    return accepted, target_ids[current]
