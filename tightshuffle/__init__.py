"""How private is the shuffle model with k-randomized response, and what does it cost in accuracy?"""

__version__ = "0.1.0"
