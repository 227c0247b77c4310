def common_prefix(rows):
    first = rows[0]
    length = len(first)
    for row in rows[1:]:
        i = 0
        while i < min(length, len(row)) and row[i] == first[i]:
            i += 1
        length = i
    return length
