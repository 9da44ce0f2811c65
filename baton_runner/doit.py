"""For a user's dodo.py. These two lines are a whole one:

``from baton_runner.doit import DOIT_CONFIG, task_baton`` and ``__all__ = ["DOIT_CONFIG", "task_baton"]``.

In a dodo.py with tasks of its own, ``from baton_runner.doit import task_baton`` adds the plans beside them: ``doit``
alone still runs the user's tasks, ``doit baton`` every open change, ``doit <change>`` and ``doit <change>:<id>`` a part.
"""

from baton_runner.build.loader import DOIT_CONFIG, task_baton

__all__ = ["DOIT_CONFIG", "task_baton"]
