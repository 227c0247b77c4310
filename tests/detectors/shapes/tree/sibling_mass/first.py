import torch


def sample_target_only(candidates, next_token, next_sibling, target_probs, draft_probs, coins, max_depth):
    accepted = [0]
    current, prob_row = 0, 0
    coin = coins[0]
    for _ in range(max_depth):
        prob_acc = 0.0
        child = next_token[current]
        while child != -1:
            token = candidates[child]
            prob_acc += target_probs[prob_row, token]
            if coin <= prob_acc:
                accepted.append(int(child))
                coin = coins[child]
                break
            draft_probs[prob_row, token] = target_probs[prob_row, token]
            child = next_sibling[child]
        if child == -1:
            break
        current = child
        prob_row = child
    residual = torch.clamp(target_probs[prob_row] - draft_probs[prob_row], min=0.0)
    return accepted, torch.multinomial(residual, 1)
