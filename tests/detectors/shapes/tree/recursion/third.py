def r(a, b, c, d, u=0):
    hit = next((x for x in a[u] if b[x] == c[u]), None)
    if hit is None:
        return d
    d.append(hit)
    return r(a, b, c, d, hit)
