"""The paper's figures, one module each, and what runs them.

A module states its ``CLAIM``; has ``FULL`` and ``QUICK`` settings; lists its ``cells``, the independent pieces of its
work; can ``measure`` one of them, ``draw`` all that were measured, and ``judge`` the claim by them.
"""
