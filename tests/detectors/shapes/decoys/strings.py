"""Kernels in strings that chase links or compare, and what is only said about one."""

import cupy

NOTE = "Never written as `__global__ void walk(...)`: it goes in Python (see {the design})."

WALKS = r"""
extern "C" __global__ void last_of_chain(const int* next, const int* start, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = start[i];
  while (next[at] != -1) at = next[at];
  out[i] = at;
}

extern "C" __global__ void lookup(const int* keys, const int* next, const int* heads, const int* wanted, int* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = heads[wanted[i] & 1023];
  while (at != -1 && keys[at] != wanted[i]) at = next[at];
  found[i] = at;
}
"""
last_of_chain = cupy.RawKernel(WALKS, "last_of_chain")
lookup = cupy.RawKernel(WALKS, "lookup")


def documented():
    """As CUDA it would be:

    __global__ void walk(int* draft, int* target, int* child, int* sibling, int* path) {
      int cur = 0, n = 0;
      while (true) {
        int next = child[cur];
        while (next != -1 && draft[next] != target[cur]) next = sibling[next];
        if (next == -1) break;
        path[n++] = next;
        cur = next;
      }
    }
    """


def run(links, heads, keys):
    last_of_chain((1,), (32,), (links, heads, keys))
    lookup((1,), (32,), (keys, links, heads, keys, heads))
