def feed(states, links, lengths, last, token):
    current = last
    while current != -1 and token not in states[current]:
        current = links[current]
    if current == -1:
        return 0, 0
    matched = lengths[current] + 1
    return states[current][token], matched
