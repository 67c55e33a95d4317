# `make course` and `make test` are the two to know. Everything installs into .venv, from requirements.txt.

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.PHONY: help setup course release book publish-tree screenshots sample lab lint test test-long test-cuda bench clean

help:
	@echo "make course     set up, release, build the book, grade the sample class"
	@echo "make test       every test that is quick enough for every change"
	@echo "make release    write exercises/ and the learners' zip"
	@echo "make book       build the book; a warning is an error"
	@echo "make book EDITION=solutions   the same with the solution line by line, for instructors: _build/solutions/"
	@echo "make publish-tree   the public tree, fit to be a repository of its own: build/public/"
	@echo "make screenshots   take the pictures of panels and pages that the book shows anew"
	@echo "make lab        open a copy of the learners' notebook in JupyterLab: build/lab/"
	@echo "make test-long  what is too dear for every change"
	@echo "make bench      how fast each way of grading is, as ratios"
	@echo "make test-cuda  the reference on the CPU and on a GPU, as a small table"

setup: .venv/ready

.venv/ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 10), "Python 3.10 or newer is needed; name it: make PYTHON=python3.12"'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

release: setup
	autograder release

book: setup
ifeq ($(EDITION),solutions)
	python book/_publish/edition.py
else
	jupyter-book build . -n -W --keep-going
endif

publish-tree: setup
	@$(MAKE) --no-print-directory release
	@$(MAKE) --no-print-directory book
	python book/_publish/public_tree.py build/public

screenshots: setup
	python book/_publish/screenshots.py

sample: setup
	python tests/sample_class.py build/sample-class
	autograder grade build/sample-class --output build/sample-grades --seed 1 || test $$? -eq 1
	autograder report build/sample-grades

course: setup
	@$(MAKE) --no-print-directory release
	@$(MAKE) --no-print-directory book
	@$(MAKE) --no-print-directory sample
	@echo
	@echo "The book:             $(CURDIR)/_build/html/index.html"
	@echo "The learners' zip:    $(CURDIR)/dist/multi_head_attention.zip"
	@echo "The sample class:     $(CURDIR)/build/sample-grades/report.html, grades.csv, students/"
	@echo "Two of its submissions are broken on purpose. Your own class: autograder grade FOLDER --output grades"

# A copy, made once: a release changes what lies in exercises/.
lab: setup
	@test -e build/lab/multi_head_attention || { mkdir -p build/lab && cp -R exercises/multi_head_attention build/lab/; }
	@echo "Your copy is build/lab/multi_head_attention. For a new one, rename that folder and run make lab again."
	cd build/lab/multi_head_attention && jupyter lab multi_head_attention.ipynb

lint: setup
	ruff check .
	ruff format --check .
	mypy

test: lint
	python -m pytest -m "not long and not cuda" -n 4 --dist loadfile

test-cuda: setup
	python tests/cuda_parity.py

bench: setup
	python benchmarks/run.py

test-long: setup
	python -m pytest -m "long" -n 4 --dist loadfile

# What somebody wrote stays: the copies in build/lab, and what a release put aside.
clean:
	rm -rf _build dist .jupyter_cache
	test ! -d build || find build -mindepth 1 -maxdepth 1 ! -name lab ! -name set-aside -exec rm -rf {} +
