"""The architectures of NVIDIA's that kernels are built for, and what each allows; imports nothing."""

SHARED_LIMIT_BYTES = {
    80: 166_912,
    86: 101_376,
    89: 101_376,
    90: 232_448,
    100: 232_448,
    103: 232_448,
    110: 232_448,
    120: 101_376,
    121: 101_376,
}
"""Most shared memory that one block may ask for, by compute capability times ten, from the CUDA programming guide."""
