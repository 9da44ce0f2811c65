"""SQLite under ``.baton/state.db``: attempts, events and spend. What must survive its loss lives in refs and files."""
