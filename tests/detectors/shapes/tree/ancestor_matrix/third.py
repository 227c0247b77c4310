def b9(a, c, e, g):
    m = 1
    for i in range(1, len(a)):
        if a[i] == c[e[i]]:
            m |= 1 << i
    s = 0
    for j in range(len(a)):
        if g[j] & ~m == 0 and g[j].bit_count() > g[s].bit_count():
            s = j
    return s
