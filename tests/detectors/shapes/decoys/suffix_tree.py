class SuffixTree:
    def speculate(self, context, limit):
        node = self.root
        for token in context:
            child = node.children.get(token)
            if child is None:
                return []
            node = child
        drafted = []
        while node.children and len(drafted) < limit:
            token, node = max(node.children.items(), key=lambda item: item[1].count)
            drafted.append(token)
        return drafted
