def greedy_accept(draft_tokens, target_tokens):
    output_tokens = []
    for i, draft in enumerate(draft_tokens):
        target = target_tokens[i]
        output_tokens.append(target)
        if draft != target:
            break
    else:
        output_tokens.append(target_tokens[len(draft_tokens)])
    return output_tokens
