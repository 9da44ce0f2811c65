"""Property tests here judge results, not milliseconds: a machine shared by many workers must not fail them."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
