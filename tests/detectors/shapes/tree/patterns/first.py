def traverse(table, greedy):
    spot, seen = 0, []
    while True:
        match table[spot].get(greedy[spot]):
            case None:
                return seen, greedy[spot]
            case onward:
                seen.append(onward)
                spot = onward
