import torch


def verify_tree(candidates, next_token, next_sibling, target_predict, max_depth):
    batch_size = candidates.shape[0]
    accept_index = torch.full((batch_size, max_depth), -1, dtype=torch.long)
    accept_length = torch.zeros(batch_size, dtype=torch.long)
    for b in range(batch_size):
        last = 0
        accept_index[b, 0] = 0
        for depth in range(1, max_depth):
            node = next_token[b, last].item()
            while node != -1:
                if candidates[b, node] == target_predict[b, last]:
                    accept_index[b, depth] = node
                    accept_length[b] += 1
                    last = node
                    break
                node = next_sibling[b, node].item()
            if node == -1:
                break
    return accept_index, accept_length
