# `make` lists what there is. Everything runs in .venv, which the first target that needs it makes.
.DEFAULT_GOAL := help
.PHONY: help demo demo-live test test-all test-deep check chaos docs conformance-record bench lock java
SHELL := /bin/bash

BIN := .venv/bin
CASES ?=
RECORD ?=
SPARK ?=

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 28

demo: java .venv/.ready ## orders, rates that change, the right rate for each order: half a minute, live
	@$(BIN)/python -m examples.demo

demo-live: java .venv/.ready ## the same with PostgreSQL, Debezium and Kafka, until Ctrl-C
	@$(BIN)/python -m examples.demo_live

test: java .venv/.ready $(if $(SPARK),.venv-spark-$(SPARK)/.ready) ## run the tests for each change (ARGS="tests/plan -k join" for some, SPARK=4.2 for those of Spark on another one)
	@RECORD=$(RECORD) SPARK=$(SPARK) scripts/test $(ARGS)

test-all: java .venv/.ready ## run every test: the thorough ones take longer than all others
	@RECORD=$(RECORD) scripts/test --all

test-deep: .venv/.ready ## the random searches among the tests, with fifty times as many examples
	$(BIN)/pytest -m hypothesis --hypothesis-profile=deep $(ARGS)

check: .venv/.ready ## format, lint, types and the layers: what CI asks before the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest tests/test_layers.py

chaos: java .venv/.ready ## kill jobs, workers and servers at random, and compare what jobs write (ARGS="--seeds 7")
	$(BIN)/python -m chaos $(ARGS)

docs: .venv/.ready ## write the pages that are made from the code
	$(BIN)/python -m docs.generate

conformance-record: java .venv-flink/.ready ## record cases on real Flink (CASES="types/cast_int" for some)
	.venv-flink/bin/python -m conformance record $(CASES)

bench: java .venv/.ready .venv-flink/.ready ## measure start-up, joins beside Flink, state, latency, backfill
	$(BIN)/python -m bench all

lock: ## pin the requirements anew (needs uv)
	uv pip compile $(PINNED) --group build -o requirements/build.txt
	uv pip compile $(PINNED) --group dev pyproject.toml -o requirements/dev.txt
	uv pip compile $(PINNED) --group flink -o requirements/flink.txt

# Hashes, and no address of any package index: where packages come from is the machine's business.
PINNED := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

java:
	@scripts/setup need-java 17

.venv/.ready: requirements/build.txt requirements/dev.txt scripts/setup
	@scripts/setup venv
	@touch $@

.venv-spark-%/.ready: requirements/spark-%.txt .venv/.ready scripts/setup
	@scripts/setup spark-venv $*
	@touch $@

.venv-flink/.ready: requirements/flink.txt scripts/setup
	@scripts/setup flink-venv
	@touch $@
