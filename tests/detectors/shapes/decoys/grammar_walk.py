def traverse_tree(retrieve_next_token, retrieve_next_sibling, draft_tokens, grammar, allocate_token_bitmask):
    def dfs(curr, parent_pos):
        if curr == 0:
            accepted = True
        else:
            parent_bitmask = allocate_token_bitmask[parent_pos]
            curr_token_id = draft_tokens[curr]
            accepted = (parent_bitmask[curr_token_id // 32] & (1 << (curr_token_id % 32))) != 0
        if accepted:
            if curr != 0:
                grammar.accept_token(draft_tokens[curr])
            if not grammar.is_terminated():
                grammar.fill_vocab_mask(allocate_token_bitmask, curr)
                if retrieve_next_token[curr] != -1:
                    dfs(retrieve_next_token[curr], curr)
            if curr != 0:
                grammar.rollback(1)
        if retrieve_next_sibling[curr] != -1:
            dfs(retrieve_next_sibling[curr], parent_pos)

    dfs(0, -1)
