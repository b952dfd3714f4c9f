# Everything there is to do, for people and for CI alike. Two targets set up all they need:
#   make quickstart   the main job: a first study on a scratch disk of its own
#   make test         every test that takes minutes, not hours
PYTHON ?= python3
# Each file is compiled once: without, every worker compiles all tests anew.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
# crates/hdfs-mount is a workspace of its own: `make hdfs` builds it, and nothing else does.
HDFS_MOUNT := crates/hdfs-mount
HDFS_CARGO := --release --locked --quiet --manifest-path $(HDFS_MOUNT)/Cargo.toml --target-dir target/hdfs-mount
HDFS_SOURCES := $(shell find $(HDFS_MOUNT) -name target -prune -o -name '*.rs' -print -o -name 'Cargo.*' -print)
RUST_SOURCES := Cargo.toml Cargo.lock \
	$(shell find crates -path $(HDFS_MOUNT) -prune -o -name '*.rs' -print -o -name Cargo.toml -print)
PLUGINS := $(wildcard plugins/*/pyproject.toml)
INSTALL_HERE := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
CHARTS := python/iostudy/report/render/templates/charts.js

TO_BUILD := cc:gcc cc:libc6-dev
TO_RUN := losetup:mount mkfs.ext4:e2fsprogs
TO_TEST := fio:fio iostat:sysstat mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs udevadm:udev ansible-lint:ansible-lint \
	sshfs:sshfs /usr/lib/openssh/sftp-server:openssh-sftp-server
TO_RUN_HADOOP := java:default-jre-headless mvn:maven
TO_LINK := /usr/sbin/sshd:openssh-server ip:iproute2
TO_BATCH := slurmctld:slurmctld slurmd:slurmd srun:slurm-client
TO_SERVE := mfsmaster:moosefs-master mfschunkserver:moosefs-chunkserver mfsmount:moosefs-client ip:iproute2
# Ubuntu has no such package; the tests that need a browser are skipped without, and say so.
TO_BROWSE := chromium:chromium
TO_EMULATE := qemu-system-x86_64:qemu-system-x86 busybox:busybox-static modprobe:kmod \
	udevadm:udev lvm:lvm2 mdadm:mdadm multipath:multipath-tools exportfs:nfs-kernel-server

# Tests of the host wait more than they compute: two workers a processor. Unit tests wait little, and
# each worker collects all of them: 3 were faster than 2 and 4 on two processors.
WORKERS := $(shell echo $$((2 * $$(nproc))))
ALL_TESTS := set-up test-rust check-rust,check-python,test-python property-tests calibrate crash attack diagnose hadoop \
	hdfs-test systems fleet fleet-kills vm

.PHONY: quickstart extras set-up test test-rust test-python all-tests unit property-tests check check-rust check-python docs \
	bench calibrate crash attack diagnose hadoop hdfs hdfs-test systems fleet fleet-kills vm release try-release reproduce docs-site field-reports \
	format lock clean help

quickstart: ## set up, and run the first study
	@$(MAKE) --no-print-directory -j 2 $(VENV)/.quick
	$(BIN)/iostudy run studies/quickstart.yaml

extras: $(VENV)/.extras $(VENV)/.built ## install all plugins and what draws figures

set-up: ## all that tests need; packages are installed while Rust is compiled
	@$(MAKE) --no-print-directory -j 2 $(VENV)/.test $(VENV)/.built

test: ## set up, and pass the tests
	@$(PYTHON) tools/run_targets.py set-up test-rust test-python

test-rust:
	cargo test --workspace --exclude iostudy-bindings --locked --quiet

test-python: $(VENV)/.test $(VENV)/.built
	$(BIN)/pytest -m "not (slow or vm)" -n $(WORKERS) --dist worksteal --retry-alone --durations=20 --durations-min=5

all-tests: ## every target of tests; a table of counts and times at the end
	@$(PYTHON) tools/run_targets.py $(ALL_TESTS)

unit: $(VENV)/.dev $(VENV)/.built ## the tests that need no root, JVM, browser or child process, in parallel
	@# Their files are in memory: a tenth of the time was the kernel's for files on a disk.
	TMPDIR=$$(mktemp -d -p /dev/shm || mktemp -d); export TMPDIR; trap 'rm -rf "$$TMPDIR"' EXIT; \
		$(BIN)/pytest -m unit -n $$(($$(nproc) + 1)) --dist worksteal

property-tests: $(VENV)/.dev $(VENV)/.built ## the property tests, with a hundred times as many examples
	$(BIN)/pytest -m "unit and hypothesis" --hypothesis-profile many -n auto --dist worksteal

check: $(VENV)/.dev $(VENV)/.built ## all linters and type checks
	@$(MAKE) --no-print-directory -j 2 --output-sync=target check-rust check-python

check-rust:
	cargo fmt --all --check
	cargo fmt --check --manifest-path $(HDFS_MOUNT)/Cargo.toml
	nice cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	nice cargo clippy -p iostudy-bindings --no-default-features --locked --quiet -- -D warnings

check-python: $(VENV)/.dev $(VENV)/.built
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.docs --check
	$(BIN)/python -m tools.words
	$(BIN)/python -m tools.structure

docs: $(VENV)/.dev $(VENV)/.built ## write the generated pages and JSON schemas
	$(BIN)/python -m tools.docs

bench: $(VENV)/.test $(VENV)/.built ## compare with fio, GNU sort, TestDFSIO and others; WRITE=1: into docs/performance.md
	$(BIN)/python -m benches $(if $(WRITE),--write) $(BENCHES)

calibrate: $(VENV)/.test $(VENV)/.built ## the long calibration of the statistics, and docs/method/calibration.md, its tables
	$(BIN)/python -m tests.calibration.table
	$(BIN)/python -m tests.calibration.predictions
	$(BIN)/pytest -m slow tests/analysis tests/calibration tests/plugins/lab

crash: $(VENV)/.test $(VENV)/.built ## the long crash tests, as root
	cargo test -p iostudy-namespace --release --locked --quiet -- --ignored
	$(BIN)/pytest -m slow tests/crash
	$(BIN)/pytest -m slow tests/vm

attack: $(VENV)/.test $(VENV)/.built ## campaigns of hostile users and damaged files, with counts, as root
	$(BIN)/python -m tests.attack

diagnose: $(VENV)/.test $(VENV)/.built ## real bottlenecks and causes of noise, and docs/telemetry/calibration.md's tables of them, as root
	$(BIN)/python -m tests.diagnosis.situations
	$(BIN)/python -m tests.diagnosis.calibration 340
	$(BIN)/python -m tests.diagnosis.noise_situations 3
	$(BIN)/pytest -m slow tests/diagnosis

hadoop: $(VENV)/.test $(VENV)/.built ## the long tests of Hadoop's programs
	$(BIN)/pytest -m slow tests/plugins/hadoop

hdfs: $(BIN)/iostudy-hdfs-mount ## build the program of `iostudy mount`

hdfs-test: $(BIN)/iostudy-hdfs-mount $(VENV)/.test ## linters and tests of the HDFS mount, as root, with a real HDFS
	cargo clippy $(HDFS_CARGO) --all-targets -- -D warnings
	cargo test $(HDFS_CARGO)
	$(BIN)/pytest -m slow tests/plugins/hadoop/mount

systems: $(VENV)/.test $(VENV)/.built ## a study on a network file system of a package, as root: MooseFS
	tools/need $(TO_SERVE)
	$(BIN)/pytest -m slow tests/storage_systems

fleet: $(VENV)/.test $(VENV)/.built ## the long tests of fleets, as root: sshd in network namespaces, Slurm, killed processes
	tools/need $(TO_LINK) $(TO_BATCH)
	$(BIN)/pytest -m slow tests/plugins/fleet

fleet-kills: $(VENV)/.test $(VENV)/.built ## 100 random losses of nodes, links and controllers of fleets, as root, with counts
	tools/need $(TO_LINK)
	$(BIN)/python -m tests.plugins.fleet.kills 100 1 2

vm: $(VENV)/.test $(VENV)/.built ## LVM, md, multipath, NFS and zones, in a virtual machine
	tools/need $(TO_EMULATE)
	PYTHON=$(PYTHON) tools/need-kernel target/vm
	$(BIN)/pytest -m "vm and not slow" tests/vm

# Two builds of a commit give the same bytes; `make reproduce` compares them.
release: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
release: $(VENV)/.package ## wheels, sdist, Debian packages, RPMs, an SBOM and checksums in dist/
	rm -rf dist
	mkdir dist
	tools/package-wheels $(VENV) dist
	tools/package-linux $(VENV) dist
	$(BIN)/cyclonedx-py requirements requirements/base.txt --pyproject pyproject.toml --output-reproducible \
		--output-file dist/iostudy.cdx.json
	cd dist && sha256sum * >SHA256SUMS

try-release: $(VENV)/.package ## install and run what `make release` has built; as root the Debian packages in a chroot
	tools/try-wheel $(PYTHON) dist/iostudy-*_$$(uname -m).whl
	tools/try-pipx $(BIN)/pipx dist/iostudy-*_$$(uname -m).whl
	tools/try-rpm dist
	@[ "$$(id -u)" != 0 ] || tools/try-package dist target/chroot

reproduce: release ## build the release of this commit again in another folder, and compare the checksums
	rm -rf target/reproduced
	git clone --quiet . target/reproduced
	$(MAKE) -C target/reproduced release
	diff dist/SHA256SUMS target/reproduced/dist/SHA256SUMS

field-reports: $(VENV)/.extras $(VENV)/.built $(if $(filter smoke,$(SIZE)),,$(BIN)/iostudy-hdfs-mount) ## repeat field reports (as root), and write their results: SIZE=smoke, small or full; REPORTS='R1 R4'
	$(BIN)/python -m tools.field_reports $(or $(SIZE),small) $(REPORTS)

docs-site: $(VENV)/.site ## the documentation as a site in target/site, readable offline; dead links end it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file packaging/site/mkdocs.yml

format: $(VENV)/.dev ## put all sources into their form
	cargo fmt --all
	cargo fmt --manifest-path $(HDFS_MOUNT)/Cargo.toml
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(VENV)/.dev ## pin the Python dependencies anew
	tools/lock

clean: ## remove all that was built; results/ stays
	rm -rf $(VENV) target dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

$(VENV)/.tools: requirements/build.txt
	tools/need-rust
	tools/need $(TO_BUILD) $(TO_RUN)
	tools/need-python $(PYTHON)
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements/build.txt
	touch $@

$(VENV)/.run: $(VENV)/.tools requirements/base.txt requirements/bundle.txt
	tools/install $(VENV) requirements/base.txt --requirement requirements/bundle.txt
	touch $@

# `.quick` is without the feature `lab` of the native module, and `.built` has it: docs/decisions/0078.
$(VENV)/.core: $(VENV)/.tools pyproject.toml $(RUST_SOURCES)
	$(INSTALL_HERE) --config-settings build-args=--no-default-features
	touch $@

$(VENV)/.native: $(VENV)/.tools pyproject.toml $(RUST_SOURCES)
	$(INSTALL_HERE)
	touch $(VENV)/.core $@

$(VENV)/.quick: $(VENV)/.core
$(VENV)/.built: $(VENV)/.native
$(VENV)/.quick $(VENV)/.built: $(VENV)/.run $(CHARTS)
	$(BIN)/python -m tools.bundle
	touch $@

$(BIN)/iostudy-hdfs-mount: $(VENV)/.built $(HDFS_SOURCES)
	cargo build $(HDFS_CARGO)
	install target/hdfs-mount/release/iostudy-hdfs-mount $@

$(VENV)/.extras: $(VENV)/.run requirements/extras.txt $(PLUGINS)
	tools/install $(VENV) requirements/extras.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation $(PLUGINS:%/pyproject.toml=-e %)
	touch $@

$(VENV)/.dev: $(VENV)/.extras requirements/dev.txt
	tools/install $(VENV) requirements/dev.txt
	touch $@

$(VENV)/.package: $(VENV)/.dev $(VENV)/.built requirements/package.txt
	tools/install $(VENV) requirements/package.txt
	touch $@

$(VENV)/.site: $(VENV)/.run requirements/site.txt
	tools/install $(VENV) requirements/site.txt
	touch $@

$(VENV)/.test: $(VENV)/.dev
	tools/need $(TO_TEST) $(TO_RUN_HADOOP)
# systemd would start the sshd of the package. There, a test of ten nodes is skipped without one.
	[ -d /run/systemd/system ] || tools/need --optional $(TO_LINK)
	tools/need --optional $(TO_BROWSE)
	touch $@
