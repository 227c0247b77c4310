def settle(draft, greedy):
    if draft and draft[0] == greedy[0]:
        return [draft[0], *settle(draft[1:], greedy[1:])]
    return [greedy[0]]
