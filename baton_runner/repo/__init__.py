"""Git, seen by the harness: the hardened runner, worktrees, commits, merges, refs.

Two rules hold everywhere. Calls that read or write *files* (checkout, add, merge, diff) take their configuration from
our own repository in ``.baton/git``, so that nothing an agent plants in the shared configuration runs in them; calls on
the *shared* repository only move refs and register worktrees. And nothing is thrown away before it can be reached from
a ref of ours.
"""
