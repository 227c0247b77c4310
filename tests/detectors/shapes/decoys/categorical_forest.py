def leaf_of(feature, level, yes, no, sample):
    node = 0
    path = []
    while yes[node] != -1:
        if sample[feature[node]] == level[node]:
            node = yes[node]
        else:
            node = no[node]
        path.append(node)
    return path
