"""One paper, reproduced: what the workflow computes, verifies, draws and writes.

It is imported from the checkout and never installed.
"""
