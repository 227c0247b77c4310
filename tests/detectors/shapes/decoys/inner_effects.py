"""Functions inside functions that move experts, cast blocks of states, and follow what was drafted without judging it."""
import torch


def move_experts(old, new, low, high, load):
    moved = []

    def run():
        found = []
        receive(found)
        return found

    def receive(found):
        for place in range(low, high):
            receive_one(place, found)

    def receive_one(place, found):
        expert = new[place]
        if old[place] == expert:
            moved.append(place)
            return
        for other in range(low, high):
            if old[other] == expert:
                found.append((other, place))
                return
        for other in range(low, place):
            if new[other] == expert:
                found.append((other, place))
                return
        load.append(place)

    return run()


def best_words(states, head, step):
    kind = head.dtype
    words = torch.empty(states.shape[0], dtype=torch.long)

    def cast(x):
        return x if x.dtype == kind else x.to(kind)

    for at in range(0, states.shape[0], step):
        scores = torch.matmul(cast(states[at : at + step]), head.T)
        words[at : at + step] = torch.max(scores, dim=-1).indices
    return words


def settle(blocks, realised, last, width, logs, old):
    kept, seen = [], []
    for number, block in enumerate(blocks):
        parted = False
        while block.at <= width:
            row = block.start + block.at
            if row > last:
                break
            token = block.tokens[block.at - 1]
            if number < old:
                logs.append(number)
            seen.append([block.at, token, realised[row]])
            block.at += 1
            if realised[row] != token:
                parted = True
                break
        if not parted and block.at <= width:
            kept.append(block)
    return kept, seen
