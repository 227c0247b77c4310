"""The walk of one tree on what the target chose at each node."""

import triton
import triton.language as tl


@triton.jit
def walk_tree(target, follows, parent, node, path_ptr, emitted_ptr, accepted_ptr, base, request, nodes, NODES):
    """Walk one tree and write what was visited.

    `follows` [NODES] says that a node holds the token which the target chose at its parent.
    """
    depth = tl.where(node == 0, 0, -1)  # [NODES], of nodes visited
    steps = 0
    child = tl.min(tl.where(follows & (parent == 0), node, NODES), axis=0)
    while child < NODES:
        steps += 1
        depth = tl.where(node == child, steps, depth)
        child = tl.min(tl.where(follows & (parent == child), node, NODES), axis=0)
    unused = (node > steps) & (node < nodes)
    tl.store(path_ptr + base + node, -1, mask=unused)
    tl.store(emitted_ptr + base + node, -1, mask=unused)
    tl.store(path_ptr + base + depth, node, mask=depth >= 0)
    tl.store(emitted_ptr + base + depth, target.to(tl.int64), mask=depth >= 0)
    tl.store(accepted_ptr + request, steps)
