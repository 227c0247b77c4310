def o(s, z, y):
    k = 0
    while k < len(z) and z[k] == y[k]:
        s.append(z[k])
        k += 1
    s.append(y[k])
    return k
