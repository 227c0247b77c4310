def matches(kinds, kids, pattern_kinds, pattern_kids, node, at):
    if kinds[node] != pattern_kinds[at]:
        return False
    if len(kids[node]) != len(pattern_kids[at]):
        return False
    for child, other in zip(kids[node], pattern_kids[at]):
        if not matches(kinds, kids, pattern_kinds, pattern_kids, child, other):
            return False
    return True
