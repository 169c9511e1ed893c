"""Profiles of Hypothesis: pytest --hypothesis-profile=nightly draws many more examples."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("nightly", max_examples=500, deadline=None)
