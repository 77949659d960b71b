"""Objects of a running cluster → files of a repository: TauGrid's, Kueue's, and Jobs that others wrote.

Every leaf of what comes in is carried over, reported, or in one of the short lists of what a server writes (``ledger``).
"""
