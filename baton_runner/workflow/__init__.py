"""WORKFLOW.md: its front matter becomes typed settings, its body a strict prompt template, and one validator judges both.

Read :mod:`~baton_runner.workflow.policy` first; ``document`` splits the file, ``front_matter`` is the guarded YAML reader,
``settings`` and its sections declare every key once (type, default, meaning), ``prompt`` renders, ``validation`` lints.
"""
