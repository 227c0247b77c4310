def decode(bits, zero, one, symbol, count):
    out, node = [], 0
    for bit in bits:
        node = one[node] if bit else zero[node]
        if symbol[node] != -1:
            out.append(symbol[node])
            node = 0
            if len(out) == count:
                break
    return out
