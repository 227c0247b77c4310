def longest_match(tokens, k):
    reverse = tokens[::-1]
    links = [0] * len(reverse)
    at, best, place = 0, 0, 0
    for i in range(1, len(reverse)):
        while at and reverse[i] != reverse[at]:
            at = links[at - 1]
        if reverse[i] == reverse[at]:
            at += 1
        links[i] = at
        if at > best:
            best, place = at, i
    return tokens[len(tokens) - place : len(tokens) - place + k], best
