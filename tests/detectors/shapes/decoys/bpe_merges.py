def merge(symbols, following, ranks):
    while True:
        at, best, place = 0, None, None
        while following[at] != -1:
            rank = ranks.get((symbols[at], symbols[following[at]]))
            if rank is not None and (best is None or rank < best):
                best, place = rank, at
            at = following[at]
        if place is None:
            return symbols
        symbols[place] += symbols[following[place]]
        following[place] = following[following[place]]
