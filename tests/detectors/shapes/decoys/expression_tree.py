def evaluate(ops, left, right, values, node):
    if ops[node] == "leaf":
        return values[node]
    a = evaluate(ops, left, right, values, left[node])
    b = evaluate(ops, left, right, values, right[node])
    return a + b if ops[node] == "+" else a * b
