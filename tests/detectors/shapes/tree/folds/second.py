import functools


def stroll(below, spelled, said, deepest):
    def onward(state, _):
        at, path = state
        nxt = next((kid for kid in below[at] if spelled[kid] == said[at]), None)
        return (at, path) if nxt is None else (nxt, [*path, nxt])

    return functools.reduce(onward, range(deepest), (0, []))[1]
