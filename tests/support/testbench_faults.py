"""The faults of the testbench by name, and what gives each of them away.

The classes are in faulty_drivers.py, faulty_monitors.py and faulty_judges.py.
"""

from __future__ import annotations

SOUND = "no fault"

# Fault: set of programs that shows it, part of the complaint it must cause.
FAULTS = {
    "ImageNotLoaded": ("sound", "first fails"),
    "LastInstructionNotLoaded": ("sound", "keeps the scratchpad fails"),
    "LatencyNotPassedOn": ("sound", "other latency fails"),
    "DepthNotPassedOn": ("sound", "the dump of the external memory has 512 words"),
    "ScratchpadNotLoaded": ("sound", "brings a scratchpad fails"),
    "LoadsWhatIsInherited": ("sound", "inherits the memory fails"),
    "ForgetsTheMemory": ("sound", "inherits the memory fails"),
    "ResynchronizesTheScratchpadAlone": ("broken", "inherits what should be there fails"),
    "NotStarted": ("sound", "reports 0 of 10 programs"),
    "NoReset": ("sound", "aborted fails"),
    "DoesNotWaitForTheEnd": ("sound", "counts 3 of 10 programs"),
    "NotAnnounced": ("sound", "counts 0 of 10 programs"),
    "NoStartPulses": ("broken", "start not ignored passes"),
    "AnswersLate": ("sound", "reactive fails"),
    "AnswersFromTheFirstImage": ("sound", "reads what it wrote fails"),
    "IgnoresWrites": ("sound", "reads what it wrote fails"),
    "SamplesCountersEarly": ("sound", "counter total: expected 256, got 39"),
    "WakesAtTheWrongEdge": ("sound", "reports 9 of 10 programs"),
    "MissesAnEnd": ("sound", "counts 5 of 10 programs"),
    "MemoryOfTheLastProgram": ("broken", "the testbench disagrees with itself"),
    "LosesTheLastWrite": ("sound", "external write 59: expected"),
    "LosesTheLastRetireRecord": ("sound", "did not retire"),
    "SeesNoFault": ("sound", "faults fails"),
    "SeesNoHang": ("broken", "hang is not said to be 'hang: not halted'"),
    "TakesUnknownForZero": ("broken", "unknown word is not said"),
    "AsksNotForProtocolErrors": ("broken", "counter not held is not said"),
    "DropsABurst": ("sound", "got none (0 of 1 seen)"),
    "RepeatsABurst": ("sound", "(2 of 1 seen)"),
    "CountsAWordTooFew": ("sound", "got read of 99 words"),
    "TakesWritesForReads": ("sound", "got read of 60 words at 200"),
    "BurstsOfTheLastProgram": ("sound", "expected read of 20 words at 0, got read of 100"),
    "StaleScratchpad": ("sound", "keeps the scratchpad fails"),
    "PredictsTheDefaultLatency": ("sound", "other latency fails"),
    "PredictsTheLastProgram": ("sound", "counts None of 10 programs"),
    "PublishesNothing": ("sound", "counts 0 of 10 programs"),
    "ComparesNothing": ("sound", "first fails (0 compared)"),
    "SwallowsMismatches": ("broken", "wrong word passes"),
    "NeverRaises": ("broken", "the test passes"),
    "KeepsOldTraffic": ("sound", "(3 of 1 seen)"),
    "IgnoresBursts": ("broken", "extra read passes"),
    "ComparesSomeWords": ("broken", "wrong word is not said to be 'ext[205]"),
    "LogsOnlyWhatPassed": ("broken", "reports 4 of 15 programs"),
    "SkipsTheLastItem": ("sound", "reports 9 of 10 programs"),
    "EndsBeforeTheProgram": ("sound", "counts 0 of 10 programs"),
    "without compare_end": ("broken", "hang is not said"),
    "without compare_counters": ("broken", "cyc_vec one too high is not said"),
    "without compare_fault": ("broken", "spurious fault is not said"),
    "without compare_memory": ("broken", "wrong word is not said to be 'ext[205]"),
    "without compare_writes": ("broken", "wrong word is not said to be 'external write"),
    "without compare_retires": ("broken", "late instruction is not said"),
    "without compare_protocol": ("broken", "start not ignored is not said"),
}
