def descend(node, letters, best):
    path = []
    while True:
        match node["below"].get(best[node["row"]]):
            case None:
                return [letters[each] for each in path]
            case {"row": row} as child:
                path.append(row)
                node = child
