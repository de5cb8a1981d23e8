"""Mix the bits of 64-bit words by a bijection."""

import numpy as np


def mixed(bits: np.ndarray) -> np.ndarray:
    """Scramble 64 bits, uint64 (n,), one to one, by the finaliser of splitmix64.

    Source: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA;
    the constants are Stafford's variant 13, as in Java's SplittableRandom.
    """
    bits = bits ^ (bits >> np.uint64(30))
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits
