import math
import random


def simulate(root, evaluate, c):
    node, path = root, [root]
    while node.children:
        node = max(node.children, key=lambda k: k.value / (1 + k.visits) + c * math.sqrt(math.log(node.visits + 1) / (1 + k.visits)))
        path.append(node)
    value = evaluate(node)
    for each in reversed(path):
        each.visits += 1
        each.value += value
    return random.choices(root.children, [k.visits for k in root.children])[0]
