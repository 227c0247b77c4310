import torch


def stops(ids, words, lengths):
    found = torch.zeros(ids.shape[0], dtype=torch.bool)
    for row in range(words.shape[0]):
        tail = ids[:, -lengths[row] :]
        found |= (tail == words[row, : lengths[row]]).all(dim=-1)
    return found
