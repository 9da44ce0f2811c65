"""Coding agents behind one protocol: a session in a worktree, turn by turn, each ending in one outcome.

``protocol`` says what an agent is and ``events`` what it reports while it works; ``registry`` turns a policy's
``agent.kind`` into one. ``turns`` is the process side that the adapters share (``command``, ``recipe``, ``claude_code``,
``terminal``); ``environment`` and ``redaction`` decide what an agent may know and what the logs may say.
"""
