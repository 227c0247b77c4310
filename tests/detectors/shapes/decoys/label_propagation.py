import torch


def components(edges, count):
    label = torch.arange(count)
    while True:
        following = label.scatter_reduce(0, edges[0], label[edges[1]], "amin")
        following = following[following]
        if (following == label).all():
            return label
        label = following
