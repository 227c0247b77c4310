def common(a, b):
    return [a[0], *common(a[1:], b[1:])] if a and b and a[0] == b[0] else []


def subsequence(a, b):
    if not a or not b:
        return []
    if a[0] == b[0]:
        return [a[0], *subsequence(a[1:], b[1:])]
    return max(subsequence(a[1:], b), subsequence(a, b[1:]), key=len)


def merge(a, b):
    if not a or not b:
        return a or b
    if a[0] == b[0]:
        return [a[0], *merge(a[1:], b[1:])]
    return [a[0], *merge(a[1:], b)] if a[0] < b[0] else [b[0], *merge(a, b[1:])]


def matches(pattern, text):
    match pattern, text:
        case [], _:
            return True
        case [first, *rest], [letter, *later] if first == letter:
            return matches(rest, later)
        case _:
            return False
