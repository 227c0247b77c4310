import torch


def breadth_first(first_kid, kid_count, words, votes):
    """Children of a node lie side by side in breadth-first order."""
    spot = torch.zeros((), dtype=torch.long)
    trail = [spot]
    going = True
    while going:
        lo = first_kid[spot]
        block = words[lo : lo + kid_count[spot]]
        same = block == votes[spot]
        going = bool(same.any())
        if going:
            spot = lo + same.to(torch.uint8).argmax()
            trail.append(spot)
    return torch.stack(trail)
