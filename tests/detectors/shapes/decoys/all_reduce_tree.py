def tree_all_reduce(rank, world, buffer, send, receive):
    mask = 1
    while mask < world:
        peer = rank ^ mask
        if rank & mask == 0:
            if peer < world:
                buffer += receive(peer)
        else:
            send(peer, buffer)
            break
        mask <<= 1
    return buffer
