def longest_word(trie, text):
    node, best = trie, 0
    for at, letter in enumerate(text):
        if letter not in node:
            break
        node = node[letter]
        if None in node:
            best = at + 1
    return text[:best]
