"""Settings of the property tests: an example may take as long as a loaded machine needs."""

from hypothesis import settings

settings.register_profile("controller", deadline=None)
settings.load_profile("controller")
