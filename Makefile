# SPDX-License-Identifier: Apache-2.0
# Thin on purpose: it sets up what a target needs and calls the Python front end of the same name.
# A text after '##' is what 'make help' prints.

SIM ?= icarus
ENGINE ?= simulation
VENV ?= .venv

# What stands on the command line is text: no '$' in it is expanded, none of it is passed on but what
# set-up asks for, and a target refuses what its help text does not name.
define newline


endef
given := $(strip $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v)))
$(foreach v,$(given),$(eval override $v := $$(value $v))$(if $(findstring $(newline),$(value $v)),\
  $(error $v: give a value of one line)))
$(foreach v,$(filter PYTHON VENV CXX,$(given)),$(eval export $v))
unexport MAKEFLAGS MFLAGS MAKELEVEL
# With these Python would skip assertions, run another project or not end, and pytest leave tests out;
# with the last two every warning would stop pip, and every start of Python compile all modules.
unexport PYTHONOPTIMIZE PYTHONSAFEPATH PYTHONHOME PYTHONINSPECT PYTEST_ADDOPTS PYTEST_PLUGINS
unexport PYTHONWARNINGS PYTHONDONTWRITEBYTECODE
# Those of make that would call a failure, or nothing at all, a success.
$(foreach f,e i t,$(if $(findstring $(f),$(filter-out --%,$(firstword -$(MAKEFLAGS)))),\
  $(error make -$(f): no target can be trusted with it)))

# $(call quote,text): one word for the shell, whatever it holds.
quote = '$(subst ','\'',$(1))'
ifneq ($(given),)
refused := $(shell awk -v goals=$(call quote,$(or $(MAKECMDGOALS),all)) -v given=$(call quote,$(given)) \
  -f sim/setup/variables.awk $(firstword $(MAKEFILE_LIST)))
$(if $(refused),$(error $(refused)))
endif
ifeq ($(filter 1icarus 1verilator,$(words $(value SIM))$(value SIM)),)
$(error SIM=$(value SIM): choose icarus or verilator)
endif

# The tools of this project first: the virtual environment, sim/setup/verilator, then what setup unpacked.
PY := $(call quote,$(value VENV)/bin/python)
export VIRTUAL_ENV := $(abspath $(value VENV))
export PATH := $(VIRTUAL_ENV)/bin:$(CURDIR)/sim/setup:$(value PATH):$(CURDIR)/.tools/bin
unpacked := $(wildcard $(CURDIR)/.tools/root/usr)
ifneq ($(unpacked),)
export CPATH := $(unpacked)/include:$(firstword $(wildcard $(unpacked)/include/*-linux-*)):$(value CPATH)
export LIBRARY_PATH := $(firstword $(wildcard $(unpacked)/lib/*-linux-*)):$(value LIBRARY_PATH)
endif

# $(call opt,NAME,--option): '--option=value' when the variable NAME was given, also when it is empty.
opt = $(if $(filter undefined,$(origin $(1))),,$(2)=$(call quote,$(value $(1))))
# $(call flag,NAME,--option): '--option' when NAME is 1.
flag = $(if $(filter-out 0 1,$(value $(1))),$(error $(1)=$(value $(1)): 1 for yes, 0 for no))$(if \
  $(filter 1,$(value $(1))),$(2))
# $(call is,NAME,word): the word when it is all of the value of NAME.
is = $(filter $(2),$(if $(filter 1,$(words $(value $(1)))),$(value $(1))))
engine = $(or $(if $(call is,ENGINE,simulation),rtl),$(if $(call is,ENGINE,formal),proofs),$(error \
  ENGINE=$(value ENGINE): choose simulation or formal))
# pytest with the words of PYTEST, which may be quoted.
pytest = $(PY) -c 'import shlex, sys, pytest; sys.exit(pytest.main(shlex.split(sys.argv[1]) + sys.argv[2:]))' \
  $(call quote,$(value PYTEST))
# What every front end that simulates understands.
sim_opts = --sim=$(SIM) $(call opt,RTL,--rtl) $(call flag,WAVES,--waves)
decode_opts = $(call opt,WINDOWS,--windows) $(call opt,STEPS,--steps) $(call opt,MODEL,--model) \
  $(call opt,SEED,--seed) $(call opt,START,--start) $(call opt,PAGE,--page) $(call opt,POOL,--pool) \
  $(call opt,LAT,--latency)
serve_opts = $(call opt,MODEL,--model) $(call opt,SEED,--seed) $(call opt,REQUESTS,--requests) \
  $(call opt,RATE,--rate) $(call opt,TRACE,--trace) $(call opt,BATCH,--batch) $(call opt,ROWS,--rows) \
  $(call opt,WINDOW,--window) $(call opt,SINKS,--sinks) $(call opt,PAGE,--page) \
  $(call opt,POOL,--pool) $(call opt,DRAFT,--draft) $(call opt,ADMISSION,--admission) \
  $(call opt,RESIDENT,--resident) $(call opt,LAT,--latency) $(call flag,COMPARE,--compare)
program_opts = $(call opt,PROGRAM,--program) $(call opt,EXT,--ext) $(call opt,OUT,--out) \
  $(call opt,DEPTH,--depth) $(call opt,SPAD,--spad) $(call opt,LAT,--latency) \
  $(call opt,LATS,--latencies) $(call opt,PULSES,--pulses)

.DEFAULT_GOAL := all
# Two targets of one make would share build folders: everything in order, one at a time.
.NOTPARALLEL:

##@ Main
.PHONY: all decode compare serve waves run trace disasm train evaluate studies
all: decode

decode: setup ## windowed decode on the RTL (default): SIM=icarus|verilator WINDOWS="none 8 4" STEPS=32 MODEL=structured|random|trained|trained-window16|trained-int4 SEED=1 START=0 PAGE=4 POOL=64 LAT=8 [WAVES=1] [RTL=folder of your own design]
	@$(PY) -m sim.decode $(sim_opts) $(decode_opts)

compare: setup-simulate-icarus-verilator ## the same in both simulators, which must agree on memory, counters and retire records: WINDOWS= STEPS= MODEL= SEED= START= PAGE= POOL= LAT= RTL=
	@$(PY) -m sim.decode.compare $(call opt,RTL,--rtl) $(decode_opts)

serve: setup $(if $(filter 1,$(value COMPARE)),setup-all) ## many requests served from pages in the chip's memory, every program of it on the RTL: SIM=... MODEL=random|structured|trained|trained-window16 SEED=2 REQUESTS=24 RATE=0.5 | TRACE=requests.json; BATCH=8 ROWS=16 (trained: 8) WINDOW=8 SINKS=2 PAGE=4 POOL=48 DRAFT=3 ADMISSION="one page" RESIDENT=1 LAT=8 [COMPARE=1 in both simulators] [STUDIES=1 the programs of the studies instead] [WAVES=1] [RTL=folder]
	@$(PY) -m sim.serving$(if $(call flag,STUDIES,1),.studies) $(sim_opts) $(serve_opts)

waves: WAVES := 1
waves: decode ## the same with waves, into build/waves (also WAVES=1 with decode and run): STEPS=2 keeps them small

run: setup ## one program on model and RTL: PROGRAM=file.asm|file.hex [EXT=image.hex] [SPAD=spad.hex] [OUT=final.hex] [DEPTH=8192] [LAT=8 | LATS=3,9,1] [PULSES=5,9] [RESET_AT=30 [LATE=1]] SIM=... [WAVES=1] [RTL=folder]; or SEQUENCE=name [PARAMS="seed=1 count=9"] of verif/sequences
	@$(PY) -m sim.programs.$(if $(value SEQUENCE),sequence,run) $(sim_opts) $(program_opts) \
	  $(call opt,RESET_AT,--reset-at) $(call flag,LATE,--late) $(call opt,SEQUENCE,--sequence) $(call opt,PARAMS,--params)

trace: setup ## instructions of a program on a time line, for Perfetto: PROGRAM=file.asm [EXT= SPAD= DEPTH= LAT= LATS= PULSES= WAVES= RTL= as for run] [OUT=file.trace.json] SIM=...
	@$(PY) -m sim.programs.trace $(sim_opts) $(program_opts)

disasm: setup-simulate ## print a program as assembly: PROGRAM=file.asm|file.hex
	@$(PY) -m sim.programs.disasm $(call opt,PROGRAM,--program)

train: setup-simulate ## train the model's weights on its text (from the package index), minutes on one core: [WEIGHTS="full window16"] [STEPS=8000] [OUT=build/train]
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(PY) -m sim.trained.train $(call opt,WEIGHTS,--weights) $(call opt,STEPS,--steps) $(call opt,OUT,--out)

evaluate: setup-simulate ## bits per character of the trained model: float and chip, windows, sinks, int4 cache; its operand values beside random ones
	@$(PY) -m sim.trained.evaluate

studies: setup-simulate ## page-table log, memory, prefix sharing, window accuracy, serving arithmetic
	@$(PY) -m model.studies

##@ Verification
.PHONY: random directed shrink powerup cov testplan
random: setup ## random programs: SIM=... N=1000 SEED=1 PROFILE=typical|corner|long|matrix|faults|raw|all [JOBS=1] [ONLY=index | FIRST=0] [SHRINK=30] [WAVES=1] [RTL=folder]
	@$(PY) -m sim.programs.random_programs $(sim_opts) $(call opt,N,--count) $(call opt,SEED,--seed) \
	  $(call opt,PROFILE,--profile) $(call opt,FIRST,--first) $(call opt,ONLY,--only) \
	  $(call opt,JOBS,--jobs) $(call opt,SHRINK,--shrink)

directed: setup ## directed programs of every feature: SIM=... [NAME="softmax mm_*"] [QUICK=1] [LIST=1] [SHRINK=0] [WAVES=1] [RTL=folder]
	@$(PY) -m sim.programs.directed $(sim_opts) $(call opt,NAME,--name) $(call flag,QUICK,--quick) \
	  $(call flag,LIST,--list) $(call opt,SHRINK,--shrink)

shrink: setup-simulate-icarus-verilator ## reduce a failing program of any run: FAILURE=build/jobs/<job>/failing/<n> [SHRINK=30] [WAVES=1]; [SIM=...] [RTL=folder] instead of what it failed on
	@$(PY) -m sim.programs.shrink $(call flag,WAVES,--waves) $(call opt,RTL,--rtl) $(if $(filter file,$(origin SIM)),,--sim $(SIM)) $(call opt,FAILURE,--failure) $(call opt,SHRINK,--seconds)

powerup: setup-simulate-verilator ## directed and random programs from two random initial states in Verilator: [N=100] [SEED=1] [RTL=folder]
	@$(PY) -m sim.programs.powerup --sim verilator $(call opt,RTL,--rtl) $(call opt,N,--count) $(call opt,SEED,--seed)

cov: setup-simulate-icarus-verilator ## functional and code coverage of directed, random and decode programs, every hole named: [SIM=verilator|icarus] [N=programs of each profile] [SEED=1] [JOBS=n] [ALSO=folder of other runs] [RTL=folder]
	@$(PY) -m sim.coverage $(if $(filter file,$(origin SIM)),,--sim $(SIM)) $(call opt,N,--programs) \
	  $(call opt,SEED,--seed) $(call opt,JOBS,--jobs) $(call opt,ALSO,--also) $(call opt,RTL,--rtl)

testplan: setup-simulate ## features of the ISA, their tests with the last outcome, their coverage: [ALL=1] fails when a test did not run [RTL=folder]
	@$(PY) -m sim.plan $(call flag,ALL,--all-ran) $(call opt,RTL,--rtl)

##@ Quality
.PHONY: test lint bench
test: setup-all ## everything that must pass: every test, ruff, mypy and RTL lint among them: [PYTEST="-k name tests/tools" for a part]
	@$(pytest) -n $$(($$(nproc) + 1)) --dist loadfile --no-loadscope-reorder --junitxml=build/results/pytest$(if $(value PYTEST),-part).xml

lint: setup-all ## only the static checks: ruff, mypy, Verilator and Icarus with all warnings
	@$(PY) -m sim.lint

.PHONY: operations
operations: setup-simulate ## write what follows from model/chip/operation_table.py, and say what an operation still lacks
	@$(PY) -m sim.operations

.PHONY: faults mutate mutate-model
faults: setup-simulate-icarus-verilator ## realistic faults of several lines: which check finds each, after how many programs, right instruction named or not: [NAME="ld-* st-*"] [N=random programs at most] [SEED=1] [JOBS=n] [RTL=folder]
	@$(PY) -m sim.mutate.realistic $(call opt,NAME,--name) $(call opt,N,--count) $(call opt,SEED,--seed) \
	  $(call opt,JOBS,--jobs) $(call opt,RTL,--rtl)

mutate: setup-simulate-formal-mutate-icarus-verilator ## seeded faults of the RTL against the tests, or against the proofs alone, resuming where it stopped: [ENGINE=simulation|formal] [RTL=folder of another design] [SAMPLE=n of each kind, 0 for all] [FRESH=1] [JOBS=n]; of simulation's verdicts some checked: [VERIFY=n]
	@$(PY) -m sim.mutate.$(engine) $(call opt,RTL,--rtl) $(call opt,SAMPLE,--sample) $(call flag,FRESH,--fresh) \
	  $(call opt,JOBS,--jobs) $(call opt,VERIFY,--verify)

mutate-model: setup-simulate-mutate-test ## mutants of the reference model against its tests, resuming where it stopped: [MODULES="page_table fixed_point"] [SAMPLE=100, 0 for all] [SEED=1] [FRESH=1] [JOBS=n]
	@$(PY) -m sim.mutate.model $(call opt,MODULES,--modules) $(call opt,SAMPLE,--sample) \
	  $(call opt,SEED,--seed) $(call flag,FRESH,--fresh) $(call opt,JOBS,--jobs)

bench: setup-simulate-icarus-verilator ## speed: pyuvm flow against a plain SystemVerilog testbench, model against RTL, start-up, cached build
	@$(PY) -m sim.speed

.PHONY: formal gls
formal: setup-simulate-formal ## prove the RTL's properties, and refute each on a mutant: MODULES="divider load" MUTANTS=0 JOBS=n RTL=folder
	@$(PY) -m sim.formal $(call opt,MODULES,--modules) $(call opt,JOBS,--jobs) $(call opt,RTL,--rtl) \
	  $(if $(filter 0,$(MUTANTS)),--no-mutants)

gls: setup-simulate-formal-icarus-verilator ## synthesize with Yosys, run decode and random programs on the netlists: TARGETS="generic ice40" SIMS="verilator icarus" STEPS=32 N=200 SEED=1 RTL=folder
	@$(PY) -m sim.gates $(call opt,TARGETS,--targets) $(call opt,SIMS,--sims) $(call opt,STEPS,--steps) \
	  $(call opt,N,--random) $(call opt,SEED,--seed) $(call opt,RTL,--rtl)

##@ Regressions
.PHONY: regress regress-rerun test-slurm bench-regress
regress: setup-simulate-report-regress-icarus-verilator $(if $(call is,SUITE,formal),setup-formal-mutate) ## many jobs, here or on a farm: SUITE=smoke|nightly|formal|full JOBS=n CLUSTER=local|slurm|lsf|sge|pbs SEED=1 RESUME=1 RTL=folder
	@$(PY) -m sim.regress $(call opt,SUITE,--suite) $(call opt,JOBS,--jobs) $(call opt,RTL,--rtl) \
	  $(call opt,CLUSTER,--cluster) $(call opt,SEED,--seed) $(call flag,RESUME,--resume)

regress-rerun: setup-simulate-report-regress-icarus-verilator $(if $(filter proofs.% mutants.%,$(value JOB)),setup-formal-mutate) ## one job of a regression again, same seed, with waves: JOB=id [RUN=latest] [RTL=folder]
	@$(PY) -m sim.regress.rerun $(call opt,RUN,--run) $(call opt,RTL,--rtl) $(call opt,JOB,--job)

test-slurm: setup-simulate-report-regress-icarus-verilator ## the smoke suite on a private Slurm, with a worker killed in the middle: [SUITE=smoke]
	@$(PY) -m sim.regress.slurm $(call opt,SUITE,--suite)

bench-regress: setup-simulate-report-regress-icarus-verilator ## cost of the engine: 10,000 empty jobs, against a shell loop, two cores against one, Ctrl-C: [SUITE=nightly] [PARTS="..."]
	@$(PY) -m sim.regress.bench $(call opt,SUITE,--suite) $(call opt,PARTS,--parts)

##@ Report
.PHONY: report report-pictures test-report
report: setup-simulate-report ## HTML pages, build/report, of everything that has run so far; they open offline: [OUT=folder] [RTL=folder]
	@$(PY) -m sim.report $(call opt,RTL,--rtl) $(call opt,OUT,--out)

report-pictures: setup-simulate-report-browser-chromium ## the same, and a PNG of each figure in build/report/pictures; docs/images follow: [RTL=folder]
	@$(PY) -m sim.report.pictures $(call opt,RTL,--rtl)

test-report: setup-python-icarus-verilator-chromium-axe ## look at the report in a real Chromium, with axe-core (apt as root and npm bring them): [PYTEST=...]
	@$(pytest) tests/tools/test_report.py

##@ Upkeep
.PHONY: setup setup-all setup-python test-fresh clean distclean help
setup: ## set up what SIM needs (every target sets up by itself what it needs): SIM=... [PYTHON=python3.12] [VENV=.venv] [CXX=g++]
	@sim/setup/setup.sh simulate $(SIM)

setup-all: setup-python-icarus-verilator
setup-python:
	@sim/setup/setup.sh python

# What a target needs stands in the name: groups of requirements.txt, then other parts.
setup-%:
	@sim/setup/setup.sh $(subst -, ,$*)

test-fresh: ## README's two commands on a new Debian machine in a folder, as root and as a user (root, debootstrap): DISTRO=bookworm|trixie [WHO=root|user]
	@sim/setup/fresh.sh $(call quote,$(value DISTRO)) $(call quote,$(value WHO))

clean: ## remove compiled simulations, results and caches
	rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

distclean: clean ## remove the virtual environment and unpacked tools as well
	rm -rf .tools $(if $(wildcard $(VIRTUAL_ENV)/pyvenv.cfg),$(call quote,$(VIRTUAL_ENV)))

help: ## this text
	@awk -F ':.*## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' Makefile
