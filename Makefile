# make            install, then regenerate everything offline   make test    the fast tests: minutes
# make install    only install the locked versions into .venv   make check   all other tests, lint, types, imports, docs
# make help       this list
# make unlock     allow runs again after one was killed; then run the same command
# make verify     compare results with what their jobs wrote, and with our run in data/reference
# make clean      remove all results                                make lock    renew the pinned versions
# make pictures   renew docs/images and docs/gallery.md             make reference    renew data/reference
# make paper      only the paper: its figures and tables, delta-hat, and a verdict on every printed value
# make fig1 ... fig7, figures, tables, report    only this part
# make fps1, fps2, fps3    the figures as FPS 2023 numbers them; fig1 to fig7 are arXiv's numbers
# make data, delta, trials, values, bounds, companions, parity, study, attack, statements    only this stage
# make CONFIG=config/mine.yaml, make fig7 CONFIG=config/mine.yaml    the same with settings of your own
# make PROFILE=profiles/slurm, make fig7 PROFILE=profiles/slurm      the same on a cluster; also with CONFIG=
# make bench      times of the bounds, the simulations and the pipeline, as ratios: some minutes
# make cluster    install Snakemake's plugins for Slurm and PBS (docs/running.md)
# make cluster-check    send one short test job to the cluster with the profile; PROFILE=profiles/cluster-generic for PBS
# make docs       build the documentation site, which works offline

# Not sh: make 3.81 on macOS starts a plain command without a shell, and then with the old PATH.
SHELL := /bin/bash
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Settings of other projects, which would reach into this one.
export PYTHONPATH :=
export PIP_USER := 0
unexport SNAKEMAKE_PROFILE MPLBACKEND
TARGETS := paper fig1 fig2 fig3 fig4 fig5 fig6 fig7 fps1 fps2 fps3 figures tables data delta trials values bounds companions parity study attack statements report
PARTS := lint slow docs
NAMED := $(filter $(TARGETS),$(MAKECMDGOALS))

# One after the other, whatever MAKEFLAGS says: a second run of Snakemake would find the folder locked. Only the parts
# of `make check` run side by side.
ifneq ($(MAKECMDGOALS),$(PARTS))
.NOTPARALLEL:
endif

.PHONY: all install help $(TARGETS) named docs test check lint slow verify unlock cluster cluster-check bench lock pictures reference clean

# This command checks the settings, and prints the folder of their results.
FOLDER := python -m scripts.shared.configuration $(if $(CONFIG),"$(CONFIG)")
HOW := $(if $(PROFILE),--workflow-profile "$(PROFILE)",--quiet rules reason host)
# On this machine a line per finished job, such as "12 of 85: draw_tv", of the five that Snakemake prints. On a cluster
# also each job's files and log.
LINES := $(if $(PROFILE),,2> >(trap '' INT; exec sed -uE \
  -e '/^(\[.+ [0-9]{4}\]|Execute [0-9]+ jobs\.\.\.|Select jobs to execute\.\.\.)$$/d' \
  -e '/^Finished jobid: .*\(Rule: (.*)\)$$/{s//\1/;h;d;}' \
  -e '/^([0-9]+ of [0-9]+) steps .*done$$/{s//\1: /;G;s/\n//;}' >&2))
SNAKEMAKE := snakemake $(HOW) $(if $(CONFIG),--configfile "$(CONFIG)")
INSTALLED := .venv/installed $(if $(PROFILE),.venv/cluster)

all: $(INSTALLED)
	@results=$$($(FOLDER)) && $(SNAKEMAKE) $(LINES) && \
	  echo "The reproduction report: $$PWD/$$results/report/index.html" && \
	  echo "The paper's statements: $$PWD/$$results/report/statements.html"

# One run of Snakemake makes all targets that are named.
$(TARGETS): named; @:
named: $(INSTALLED)
	@results=$$($(FOLDER)) && $(SNAKEMAKE) -- $(NAMED) $(LINES) && for target in $(NAMED); do case $$target in \
	  fig?) ls $$PWD/$$results/figures/$${target}_*.png;; *) echo "The results: $$PWD/$$results";; esac || exit; done

verify: .venv/installed
	@results=$$($(FOLDER)) && summary=$$($(SNAKEMAKE) --summary) && python -m scripts.shared.verify $$results <<< "$$summary"

unlock: .venv/installed
	@$(SNAKEMAKE) --unlock

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

PYTEST := python -m pytest --maxprocesses 4 --dist loadfile --no-loadscope-reorder --numprocesses
test: .venv/test
	@$(PYTEST) logical -m "not slow"
	@cd library && $(PYTEST) logical -m "not slow"

check: .venv/test .venv/dev
	@$(MAKE) --no-print-directory --jobs 2 $(PARTS)

lint: .venv/dev
	@ruff check .
	@ruff format --check .
	@snakefmt --check Snakefile workflow
	@snakemake --lint
	@mypy
	@lint-imports
	@zizmor --offline --quiet .github

# One process more than there are cores, because one mostly waits for a cluster.
slow: .venv/test .venv/dev
	@$(PYTEST) $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -m slow
	@cd library && $(PYTEST) logical -m slow

cluster: .venv/cluster
	@echo "Edit profiles/slurm/config.yaml (partition, account), then: make cluster-check"

cluster-check: PROFILE ?= profiles/slurm
cluster-check: .venv/cluster
	@! test -x $(PROFILE)/check || $(PROFILE)/check
	@snakemake --workflow-profile $(PROFILE) --retries 0 --forcerun check_cluster -- check_cluster && \
	  echo "The cluster has run a job with $(PROFILE)."

# `-W`: a broken link or an invalid docstring is an error.
docs: .venv/test .venv/dev
	@sphinx-build -M html . results/site -c docs -W --keep-going -q
	@echo "The documentation: $(CURDIR)/results/site/html/index.html"

# One thread: this compares work, not how it is spread over cores.
bench: .venv/test
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 python -m benchmarks.bench

pictures: all .venv/dev
	@python -m docs.pictures

reference: all
	@python -m scripts.shared.write_reference results data/reference

clean:
	rm -rf .snakemake
	! test -d results || find results/ -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +

install: .venv/installed

# An environment contains its folder's path: after a move or a copy it would run the other folder's code.
ifneq ("$(shell cat .venv/installed 2>/dev/null)","$(CURDIR)")
.PHONY: .venv/installed
endif

.venv/installed: requirements.lock library/pyproject.toml
	@case "$$PWD" in *[[:space:]{}]*) \
	  echo "error: Snakemake does not work in a folder with a space or a brace: $$PWD" >&2; exit 1;; esac
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: tight-shuffle needs Python >= 3.11. Name one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing the locked versions into .venv (about a minute, 700 MB) ..."
	@$(PYTHON) -m venv --clear .venv
	@.venv/bin/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@.venv/bin/python -m compileall -q -j 0 -x '/tests?/' .venv/lib  # pip would compile on one core, and tests too
	@.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e ./library
	@echo "$(CURDIR)" > $@

# Optional parts: test, dev (lint, types, the site) and cluster (Snakemake's plugins).
.venv/%: requirements-%.lock .venv/installed
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $< && touch $@

# requirements.lock has every package that the pipeline needs, with version and hash, for all platforms and Pythons.
# The other locks have what the dependency group of that name needs in addition; but requirements-test.lock is complete:
# the library's tests need no other lock. environment.yml and workflow/envs/rules.yml repeat the pipeline's versions for
# conda. OLDEST=3.14 takes the newest packages, also those that no longer support Python 3.11.
OLDEST ?= 3.11
COMPILE := uv pip compile --quiet --upgrade --universal --fork-strategy fewest --python-version $(OLDEST) \
  --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links library/pyproject.toml
# Versions that suit all groups: alone, the pipeline would get an attrs that is too new for dp-accounting of the tests.
TOGETHER := .venv/together.lock
lock: .venv/installed
	@.venv/bin/pip install --quiet --disable-pip-version-check uv
	@$(COMPILE) --group pipeline --group test --group dev --group cluster -o $(TOGETHER)
	@$(COMPILE) --group pipeline --constraint $(TOGETHER) -o requirements.lock
	@$(COMPILE) --group test --constraint $(TOGETHER) -o requirements-test.lock
	@for group in dev cluster; do $(COMPILE) --group $$group --constraint $(TOGETHER) -o requirements-$$group.lock \
	  $$(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.lock) || exit 1; done
	@python workflow/environment_of_lock.py requirements.lock "-e ./library" > environment.yml
	@python workflow/environment_of_lock.py requirements.lock > workflow/envs/rules.yml
	@echo "Renewed the locks and conda's environments; run make to install them."
