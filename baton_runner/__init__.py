"""make, for coding agents: a plan's tasks are build targets, their proof is a sealed receipt.

The layers, from the top: ``cli``, ``build``, ``controller``, ``evidence``, ``agents``, ``repo``, ``store``, ``plan``,
``workflow``, ``base``. Each folder imports only from those below it.
"""

__version__ = "0.1.0"
