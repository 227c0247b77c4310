def h(m, v):
    k, z = 0, 0
    o = []
    for _ in range(len(v)):
        t = v[k]
        w = m.get((k, t))
        if w is None:
            break
        o.append(t)
        k = w
        z += 1
    return o, v[k], z
