"""The one scheduler: assess, frontier, claim, run, verify, integrate, tick.

Decisions are pure (``states``, ``assess``, ``frontier``); effects are thin steps, each in one place: ``claims``,
``lifecycle``, ``attempts``, ``verification``, ``integration``, ``publishing``, ``recovery``, ``closing``.
"""
