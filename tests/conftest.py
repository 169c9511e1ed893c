"""What holds for all tests.

Profiles of Hypothesis: pytest --hypothesis-profile=nightly draws many more examples. A shell
starts what it puts into the background deaf to Ctrl-C; tests that press it need ears.
"""

from __future__ import annotations

import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("nightly", max_examples=500, deadline=None)
