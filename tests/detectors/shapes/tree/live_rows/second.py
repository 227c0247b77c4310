def narrow(rows, votes):
    """`rows` are paths of nodes with their tokens; `votes` the model's choice at each node."""
    left = list(rows)
    kept = []
    spot = 0
    column = 0
    while left:
        vote = votes[spot]
        left = [lane for lane in left if len(lane) > column and lane[column].token == vote]
        if left:
            spot = left[0][column].index
            kept.append(spot)
            column += 1
    return kept
