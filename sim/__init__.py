"""Everything outside the simulator: set-up, building, launching, command-line front ends."""

import signal
import sys

# A front end that is still being loaded ends without a word at Ctrl-C, as make's line says enough;
# sim.shared.cli.Parser takes over. "-m" stands there only while python -m looks for the module.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
