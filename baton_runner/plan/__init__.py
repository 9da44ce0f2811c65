"""Plans: what is to be done, read from the user's files into one model, ordered, and ticked off byte by byte.

:mod:`model` holds the words, :mod:`tasks_md` reads Markdown, :mod:`order` says what waits for what,
:mod:`definition` says when two tasks are the same work, :mod:`ticking` writes marks back. Everything but ticking and
the search for changes is a pure function of bytes and values; policy comes in as parameters.
"""
