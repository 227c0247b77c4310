def sift_down(heap, keys, at):
    while 2 * at + 1 < len(heap):
        child = 2 * at + 1
        if child + 1 < len(heap) and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[heap[at]] <= keys[heap[child]]:
            break
        heap[at], heap[child] = heap[child], heap[at]
        at = child
