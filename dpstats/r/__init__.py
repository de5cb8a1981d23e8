"""Answer the R package: plain values in and out, and every error as a sentence."""

from dpstats.r.bridge import answer

__all__ = ["answer"]
