import torch


def vote(answers):
    same = (answers[:, None, :] == answers[None, :, :]).all(dim=-1)
    counts = same.sum(dim=1)
    winner = counts.argmax()
    return answers[winner], counts[winner]
