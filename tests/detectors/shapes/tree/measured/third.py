def run_of(rows, said, line):
    total = 0
    while total + 1 < len(line) and rows[line[total + 1]] == said[line[total]]:
        total += 1
    return total


class Chooser:
    def choose(self, lines, rows, said):
        spans = [run_of(rows, said, line) for line in lines]
        top = max(range(len(lines)), key=spans.__getitem__)
        return lines[top][: spans[top] + 1]
