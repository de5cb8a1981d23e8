"""What the R package calls: plain values in and out, and every error as a sentence."""

from dpstats.r.bridge import answer

__all__ = ["answer"]
