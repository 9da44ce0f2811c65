"""What a run tells its reader: the values it is told in, and the readers: terminal, live view, JUnit file, event stream."""
