# SPDX-License-Identifier: MIT
#
# All a newcomer types; the work is in meson.build, pyproject.toml and scripts/.
# Each target first installs what it lacks (scripts/setup) and takes no time when nothing is.

BIN = .venv/bin
RESULTS = build/test-results
# Most of the Python tests wait for programs: two processes for each CPU, whole files so that a file's
# fixtures are made once.
WORKERS = --numprocesses $$(($$(nproc) * 2)) --maxprocesses 8 --dist loadfile

.PHONY: help report test test-quick test-all peers bench chrony goals trust-goals accuracy cross \
	cross-quick sanitize sanitize-quick guests guests-quick fuzz model mutants mutants-fixed \
	languages languages-check languages-quick languages-torture clean setup setup-quick native \
	native-quick portable clang python python-quick worlds fuzz-quick base venv deb packages \
	image baremetal baremetal-quick module site wheels newcomer power-be

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r t w; \
		do printf '  make %-12s %s\n' "$$t" "$$w"; done

report: venv ## measure this machine: build/report.html (ARGS= for more options)
	$(BIN)/timebase report --out build/report.html \
		$(addprefix --languages ,$(wildcard bench/results/languages.json)) $(ARGS)

bench: venv ## the cost of each way to read the time (ARGS= for more options)
	$(BIN)/timebase bench $(ARGS)

test: ## what every change must pass: a table of its stages at the end, the same every day
	@scripts/test setup native python+languages-quick sanitize-quick cross-quick model \
		guests-quick+baremetal-quick fuzz-quick+mutants-fixed

test-quick: ## what to run before each commit, within three minutes once set up
	@scripts/test setup-quick native-quick python-quick

# Its longest stages take more than the 40 minutes after which one of `test` hangs.
test-all: ## test, and what takes hours: all mutants, more worlds, other compilers, long fuzzing
	@TIMEBASE_STAGE_LIMIT=$${TIMEBASE_STAGE_LIMIT:-28800} scripts/test setup native portable clang \
		python languages-check sanitize cross guests baremetal model fuzz mutants worlds packages \
		newcomer wheels site

setup: venv
	@scripts/setup chrony cross model fuzz guests image cpp rust go lisp
	@mkdir -p $(RESULTS) && echo "0 passed, 0 failed" >$(RESULTS)/setup.count

setup-quick: venv
	@mkdir -p $(RESULTS) && echo "0 passed, 0 failed" >$(RESULTS)/setup-quick.count

native: base ## the C tests, all of them
	scripts/check native

native-quick: base
	scripts/check native native-quick --no-suite slow

# The processors of 32 bits under `cross` have no other multiplication: not in `test`.
portable: base ## the C tests with the multiply for compilers without 128-bit integers
	scripts/check portable portable --no-suite slow

clang: base ## the C tests built by clang
	@scripts/setup clang
	scripts/check clang clang --no-suite slow

python: venv ## the Python tests
	@scripts/setup chrony
	@mkdir -p $(RESULTS)
	$(BIN)/pytest $(WORKERS) --junitxml=$(RESULTS)/python.xml

python-quick: venv
	@mkdir -p $(RESULTS)
	$(BIN)/pytest $(WORKERS) -m "not slow" --junitxml=$(RESULTS)/python-quick.xml

worlds: base venv ## a hundred thousand of each kind of simulated world
	@mkdir -p $(RESULTS)
	TIMEBASE_TEST_WORLDS=100000 scripts/check native worlds-native simulation_random_worlds \
		simulation_wide_worlds simulation_daemon_worlds
	TIMEBASE_TEST_WORLDS=100000 $(BIN)/pytest tests/property/test_bound.py \
		--junitxml=$(RESULTS)/worlds-property.xml

sanitize: base ## the C tests under address, undefined-behaviour and thread sanitizers
	scripts/configurations sanitize

sanitize-quick: base
	scripts/configurations --quick sanitize

cross: base ## the C tests on other processors, emulated
	@scripts/setup cross
	scripts/configurations cross

cross-quick: base
	@scripts/setup cross
	scripts/configurations --quick cross

guests: base ## machines of their own, Debian's kernels in QEMU: counters that disagree, other processors
	@scripts/setup guests kernels
	scripts/build native
	tests/guests/run

guests-quick: base
	@scripts/setup guests
	scripts/build native
	tests/guests/run --quick

power-be: base ## big-endian Power: a kernel built from Debian's source, minutes, then booted
	@scripts/setup kernels power
	tests/guests/run ppc64 powerpc

mutants: base ## faults put in on purpose, each of which the tests must notice
	tests/mutants/run

mutants-fixed: base
	tests/mutants/run --fixed

model: base ## the page's protocol, model-checked
	@scripts/setup model
	scripts/model

fuzz: base ## all that parses, with any bytes, for five minutes each
	@scripts/setup fuzz
	scripts/fuzz 300

fuzz-quick: base
	@scripts/setup fuzz
	scripts/fuzz runs

languages-check: base ## the conformance of C++, Rust, Go and Common Lisp
	@TIMEBASE_TEST_READS=$${TIMEBASE_TEST_READS:-200000000} scripts/languages check

languages-torture: base venv ## 200,000,000 readings under a live writer in each language: bench/results/torture.md
	@TIMEBASE_TEST_READS=$${TIMEBASE_TEST_READS:-200000000} scripts/languages torture
	$(BIN)/python bench/torture.py $(ARGS)

languages-quick: base
	@scripts/setup cpp rust go lisp
	scripts/build native
	scripts/languages check-quick

languages: base venv ## what a reading costs in each language: bench/results/languages.md
	@scripts/languages bench
	$(BIN)/python bench/languages.py $(ARGS)

image: base ## for a machine without an operating system: build/image/timebase.iso
	@scripts/setup image
	$(MAKE) --no-print-directory -C platform/baremetal OUT=$(CURDIR)/build/image all iso

baremetal: base ## that image in QEMU and Bochs: experiments, logs, and what a machine lacks
	@scripts/setup image
	$(MAKE) --no-print-directory -C platform/baremetal OUT=$(CURDIR)/build/image all iso
	tests/baremetal/run

baremetal-quick: base
	@scripts/setup image
	$(MAKE) --no-print-directory -C platform/baremetal OUT=$(CURDIR)/build/image all iso
	tests/baremetal/run --quick

module: base ## the kernel module for Debian's kernel: build/linux-module (KERNEL= for another's headers)
	@scripts/setup guests
	$(MAKE) --no-print-directory -C platform/linux-module OUT=$(CURDIR)/build/linux-module \
		KERNEL=$(or $(KERNEL),$(lastword $(sort $(wildcard /usr/src/linux-headers-*-amd64))))

deb: base ## Debian packages of what is committed: build/deb
	@scripts/setup deb
	scripts/deb

packages: deb venv ## the packages in a fresh system: installed, run, upgraded, purged
	@mkdir -p $(RESULTS)
	@scripts/setup rpm
	$(BIN)/pytest $(addprefix tests/packages/test_,packages.py dkms.py service.py rpm.py \
		formula.py cpp.py) \
		-o faulthandler_timeout=2000 --junitxml=$(RESULTS)/packages.xml

newcomer: venv ## README, tutorial and guides followed in a fresh system that has git and make alone
	@scripts/setup fresh
	@mkdir -p $(RESULTS)
	$(BIN)/pytest tests/packages/test_newcomer.py -o faulthandler_timeout=2000 \
		--junitxml=$(RESULTS)/newcomer.xml

wheels: base venv ## the sdist, and wheels for x86-64 and aarch64: build/wheels/dist
	@scripts/setup wheels
	scripts/wheels
	@mkdir -p $(RESULTS)
	$(BIN)/pytest tests/packages/test_wheels.py --junitxml=$(RESULTS)/wheels.xml

site: venv ## the documentation as a site to be read offline, with search: build/site/html
	scripts/site
	@mkdir -p $(RESULTS)
	$(BIN)/pytest tests/packages/test_site_search.py --junitxml=$(RESULTS)/site.xml

peers: base ## other people's clocks and waits beside ours
	@scripts/setup peers
	scripts/build native
	python3 bench/peers/run.py $(ARGS)

goals: base venv ## every goal figure, on a quiet machine: bench/results/goals.md
	scripts/build native
	$(BIN)/python bench/goals.py $(ARGS)

chrony: base ## does the bound of chrony's claims hold? some minutes: bench/results/chrony.md
	@scripts/setup chrony
	scripts/build native
	python3 bench/chrony.py $(ARGS)

trust-goals: base venv ## the goal figures of the shared clock: bench/results/trust.md
	scripts/build native
	$(BIN)/python bench/trust.py $(ARGS)

accuracy: venv ## how close waits come to their targets: bench/results/accuracy.md
	$(BIN)/python bench/accuracy.py $(ARGS)

clean: ## remove all that was built, with the Python environment
	rm -rf build .venv .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

base:
	@scripts/setup base

venv: base
	@scripts/setup python
