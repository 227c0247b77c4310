def step3(g, y):
    z = 0
    s = g[0][1]
    w = []
    while s is not None:
        if g[s][0] == y[z]:
            w.append(s)
            z = s
            s = g[s][1]
        else:
            s = g[s][2]
    return w
