def verify_tree_greedy(candidates, retrieve_next_token, retrieve_next_sibling, target_predict):
    same = candidates[:, 1:] == target_predict[:, :-1]
    accept_length = same.int().cumprod(dim=1).sum(dim=1)
    return accept_length, target_predict.gather(1, accept_length[:, None])
