def accept_sequential(sequences, draft_token_ids, target_token_ids):
    for seq, drafts, targets in zip(sequences, draft_token_ids, target_token_ids):
        still_matching = True
        accepted = 0
        for pos in range(len(drafts)):
            if still_matching and drafts[pos] == targets[pos]:
                seq.append(drafts[pos])
                accepted += 1
            else:
                still_matching = False
        seq.append(targets[accepted])
