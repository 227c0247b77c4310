def order(children, indegree):
    queue = [n for n in range(len(indegree)) if indegree[n] == 0]
    out = []
    while queue:
        node = queue.pop(0)
        out.append(node)
        for child in children[node]:
            indegree[child] -= 1
            if indegree[child] == 0:
                queue.append(child)
    return out
