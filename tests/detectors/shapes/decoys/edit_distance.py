def distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        before, row[0] = row[0], i
        for j in range(1, len(b) + 1):
            cost = before if a[i - 1] == b[j - 1] else 1 + min(before, row[j], row[j - 1])
            before, row[j] = row[j], cost
    return row[-1]
