def d5(m, y):
    a = m[:, 0] == m[:, 0]
    k = 0
    for j in range(1, m.shape[1]):
        e = a & (m[:, j] == y[:, j - 1])
        if not e.any():
            break
        a = e
        k = j
    return a.nonzero()[0], k
