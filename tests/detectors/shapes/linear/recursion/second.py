class Rule:
    def accept(self, words, said, i=0):
        if i == len(words) or words[i] != said[i]:
            return words[:i] + [said[i]]
        return self.accept(words, said, i + 1)
