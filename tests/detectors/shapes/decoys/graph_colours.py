from collections import deque


def flood(adjacency, colours, start):
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        for other in adjacency[node]:
            if other not in seen and colours[other] == colours[start]:
                seen.add(other)
                queue.append(other)
    return seen
