"""The build path: a plan as doit's task graph, run to its end and reported like a test run.

doit holds the graph and the order; whether a task is done and what has to be done for it, only the controller says.
``drive.run_changes`` is ``baton run``; ``commands`` are doit's own commands, taught what a task of ours is.
"""
