"""Compute on rows exactly: clipping, cross-products, concordant pairs."""
