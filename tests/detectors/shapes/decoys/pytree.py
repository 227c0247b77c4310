def tree_equal(left, right, spec):
    stack = [(left, right, spec)]
    while stack:
        a, b, node = stack.pop()
        if node.type != b.type:
            return False
        for child, x, y in zip(node.children, a, b):
            if x is not y and child.context != spec.context:
                return False
            stack.append((x, y, child))
    return True
