# gpubench. `make help` lists the targets.

CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= /usr/bin/python3

VERSION := 0.1.0

PKGS     := libcjson hwloc OpenCL libpng
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
# SAN=address,undefined builds with those sanitizers, in object folders of its own.
SAN      ?=
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,)

PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# -ffp-contract=off: the model's cross products and bounds are rounded step by step (docs/MODEL.md).
CODE_FLAGS := $(strip $(CFLAGS) -ffp-contract=off -fopenmp $(SANFLAGS))
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE $(CODE_FLAGS) $(WARNINGS) -Isrc -Ikernels \
              -DCL_TARGET_OPENCL_VERSION=300 $(PKG_CFLAGS)
ALL_LIBS   := $(LDFLAGS) $(SANFLAGS) -fopenmp $(PKG_LIBS) -ldl -lm

# Objects of different flags never mix: each set has a folder of its own.
FLAGS_ID := $(shell printf '%s' "$(CC) $(ALL_CFLAGS)" | cksum | cut -d' ' -f1)
O        := build/$(FLAGS_ID)

SRCS    := $(sort $(wildcard src/*/*.c))
OBJS    := $(SRCS:%.c=$(O)/%.o) $(O)/kernels_embedded.o $(O)/configs_embedded.o
LIBOBJS := $(filter-out $(O)/src/cli/main.o,$(OBJS))

KERNELS := $(sort $(wildcard kernels/*.cl kernels/*.h))
CONFIGS := $(sort $(wildcard configs/*.json))

UNIT_TESTS   := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/unit/test_*.c)))
KERNEL_TESTS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/kernels/test_*.c)))

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all help packages tables picture pages bench check lint check-unit check-kernels check-cli check-baseline \
        check-html check-faults check-clang check-clang-built check-san check-san-built check-fuzz check-fuzz-built fuzz \
        fuzz-build fuzz-built check-oclgrind check-valgrind install uninstall dist clean FORCE

all: gpubench ## build ./gpubench (the default)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  variables: CC CFLAGS LDFLAGS PREFIX DESTDIR PYTHON SAN=address,undefined"

gpubench: $(O)/gpubench FORCE
	@ln -sf $< $@

$(O)/gpubench: $(OBJS)
	$(CC) -o $@ $^ $(ALL_LIBS)

# Tests take from the archive only what they use.
$(O)/libgpubench.a: $(LIBOBJS)
	@rm -f $@
	$(AR) rcs $@ $^

packages:
	@command -v $(firstword $(CC)) >/dev/null && command -v pkg-config >/dev/null && pkg-config --exists $(PKGS) || \
	    { echo "Packages that gpubench is built with are missing: run scripts/install-deps.sh" >&2; exit 1; }

# One object file an instruction set (ARCHITECTURE.md): their flags are theirs alone.
$(O)/src/cpu/isa_avx2.o:   EXTRA := -O3 -mavx2 -mfma
$(O)/src/cpu/isa_avx512.o: EXTRA := -O3 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
$(O)/src/cpu/isa_portable.o: EXTRA := -O3 -fno-math-errno
$(O)/src/cpu/scalar.o:     EXTRA := -O2 -fno-tree-vectorize

COMPILE = $(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

$(O)/%.o: %.c | packages
	@mkdir -p $(@D)
	$(COMPILE)

$(O)/%_embedded.o: $(O)/%_embedded.c | packages
	$(COMPILE)

$(O)/kernels_embedded.c: $(KERNELS) $(O)/kernels.list scripts/embed.sh
	scripts/embed.sh gpu/embedded.h embedded_kernel embedded_kernels $(KERNELS) > $@

$(O)/configs_embedded.c: $(CONFIGS) $(O)/configs.list scripts/embed.sh
	scripts/embed.sh cli/embedded_configs.h embedded_config embedded_configs $(CONFIGS) > $@

# Facts that no file's date shows, in files that change only when the fact does.
REVISION := $(shell if [ -e .git ]; then git describe --always --dirty 2>/dev/null; else cat REVISION 2>/dev/null; fi)
REVISION := $(or $(REVISION),unknown)
$(O)/kernels.list:  FACT = $(KERNELS)
$(O)/configs.list:  FACT = $(CONFIGS)
$(O)/revision.list: FACT = $(VERSION) $(REVISION)
$(O)/%.list: FORCE
	@mkdir -p $(@D)
	@echo '$(FACT)' | cmp -s - $@ || echo '$(FACT)' > $@

$(O)/src/base/version.o: $(O)/revision.list
$(O)/src/base/version.o: EXTRA = -DGPUBENCH_VERSION='"$(VERSION)"' -DGPUBENCH_REVISION='"$(REVISION)"' \
                                 -DGPUBENCH_FLAGS='"$(filter-out -W%,$(CODE_FLAGS))"'

# ---- checks: each prints "N passed, N failed" and fails when anything did ----

TEST_LIBS = $(shell pkg-config --libs cmocka 2>/dev/null || echo -lcmocka)
RUN := $(PYTHON) tests/run.py

$(O)/tests/%: $(O)/tests/%.o $(O)/libgpubench.a
	$(CC) -o $@ $^ $(TEST_LIBS) $(ALL_LIBS)

$(O)/tests/%.o: EXTRA = -Itests

# An OpenCL layer that fails on demand (tests/layer/fault.h); no sanitizers: it is loaded into what may have them.
LAYER_SRCS := $(sort $(wildcard tests/layer/*.c))
build/fault.so: $(LAYER_SRCS) tests/layer/fault.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -O1 -g $(WARNINGS) -Itests -DCL_TARGET_OPENCL_VERSION=300 \
	    -fPIC -shared -o $@ $(LAYER_SRCS) -pthread

$(O)/tests/bench/%: $(O)/tests/bench/%.o $(O)/libgpubench.a
	$(CC) -o $@ $^ $(ALL_LIBS)

tables: gpubench ## make the tables in README.md and results/README.md anew
	./gpubench report -q --update README.md
	./gpubench report -q --update results/README.md
	scripts/record-tables.py results/README.md

picture: gpubench ## make README.md's picture of a report anew (chromium)
	./gpubench report -q -f html results/h200/crossover.json > build/report.html
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=build/chromium \
	    --window-size=1000,810 --screenshot=docs/report.png build/report.html 2>/dev/null

pages: gpubench ## bring manual pages and the tests' help pages in line with --help
	scripts/update-pages.py

bench: $(O)/tests/bench/bench_cpu ## the CPU renderer, fast against scalar (BENCH="threads isa")
	@$< $(BENCH)

check: ## all of the following but check-valgrind and fuzz
	@+$(RUN)

lint: $(LIBOBJS) ## layers, headers, globals, scripts, manual pages
	@CC="$(CC)" OBJECTS=$(O) $(RUN) --programs lint scripts/lint.sh

# Locales without a decimal point, for the tests that must not notice them.
export LOCPATH := $(CURDIR)/build/locale
LOCALES := build/locale/de_DE.UTF-8 build/locale/ps_AF.UTF-8
$(LOCALES): build/locale/%.UTF-8:
	@mkdir -p $(@D)
	@localedef -i $* -f UTF-8 $@ 2>/dev/null || mkdir -p $@

check-unit: $(UNIT_TESTS) $(LOCALES) ## unit tests
	@$(RUN) --programs unit $(UNIT_TESTS)

check-kernels: $(KERNEL_TESTS) ## kernels on this machine's OpenCL devices, and through clang as for others
	@$(RUN) --programs kernels $(KERNEL_TESTS)

check-cli: gpubench build/fault.so ## the program from outside (pytest)
	@GPUBENCH=$(CURDIR)/$(O)/gpubench $(RUN) --pytest cli tests/cli

check-faults: gpubench build/fault.so ## each OpenCL call of small runs made to fail in turn (FAULTS="--mode lie sweep"); hours
	@GPUBENCH=$(CURDIR)/$(O)/gpubench $(PYTHON) -B tests/cli/faults.py $(FAULTS)

check-html: gpubench ## the HTML report in headless Chromium, where there is one
	@GPUBENCH=$(CURDIR)/$(O)/gpubench $(RUN) --pytest html tests/html

check-baseline: gpubench ## regression check against results/baseline.json
	@$(RUN) --programs baseline "tests/check_baseline.sh $(CURDIR)/$(O)/gpubench"

check-clang: ## unit tests as the other compiler builds them, warnings being errors
	@+$(MAKE) CC=clang CFLAGS="-O2 -g -Werror" check-clang-built

check-clang-built: $(O)/gpubench check-unit

check-san: ## unit tests and golden cases under AddressSanitizer and UndefinedBehaviorSanitizer
	@+$(MAKE) SAN=address,undefined check-san-built

# LLVM, in a driver, has a signal stack of its own in each thread, and would have the sanitizer free that one.
check-san-built: export ASAN_OPTIONS := use_sigaltstack=0
check-san-built: export LSAN_OPTIONS := suppressions=tests/lsan.supp:print_suppressions=0
check-san-built: $(UNIT_TESTS) $(LOCALES) $(O)/gpubench
	@$(RUN) --programs san $(UNIT_TESTS) "tests/verify.sh $(O)/gpubench"

check-oclgrind: $(KERNEL_TESTS) ## kernels under Oclgrind: memory errors, races, barriers
	@$(RUN) --wrap tests/oclgrind.sh --programs oclgrind $(filter-out %/test_syntax,$(KERNEL_TESTS))

# A driver's compiler takes minutes under Valgrind, and leaks: check-san looks at what has to do with OpenCL.
check-valgrind: export OCL_ICD_VENDORS := none
check-valgrind: $(UNIT_TESTS) $(LOCALES) ## unit tests under Valgrind, without OpenCL devices; a quarter of an hour
	@$(RUN) --wrap "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
	    --suppressions=tests/valgrind.supp" \
	    --programs valgrind $(UNIT_TESTS)

FUZZ_TARGETS := $(patsubst %.c,$(O)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
SEEDS_fuzz_json   := tests/fuzz/seeds/all.json $(CONFIGS)
SEEDS_fuzz_config := $(CONFIGS)
SEEDS_fuzz_scene  := tests/golden/one-triangle-at-16/scene.json tests/golden/edge-cases-at-64/scene.json
SEEDS_fuzz_image  := $(sort $(wildcard tests/fuzz/seeds/*.ppm tests/fuzz/seeds/*.png))
SEEDS_fuzz_results := tests/fuzz/seeds/results.json tests/fuzz/seeds/results.partial
SEEDS_fuzz_compare := tests/fuzz/seeds/baseline.json tests/fuzz/seeds/results.json
FUZZ_ROUNDS  ?= 5000
FUZZ_SECONDS ?= 60

$(FUZZ_TARGETS): $(O)/tests/fuzz/%: $(O)/tests/fuzz/%.o $(O)/tests/fuzz/mutate.o $(O)/libgpubench.a
	$(CC) -o $@ $^ $(ALL_LIBS)

check-fuzz: ## readers of files on mutated input, under sanitizers
	@+$(MAKE) SAN=address,undefined check-fuzz-built

check-fuzz-built: $(FUZZ_TARGETS)
	@$(RUN) --programs fuzz $(foreach t,$(FUZZ_TARGETS),"$(t) $(FUZZ_ROUNDS) $(SEEDS_$(notdir $(t))) tests/fuzz/$(notdir $(t)).corpus")

fuzz-build: ## the same with libFuzzer (clang): build/fuzz/fuzz_*
	@+$(MAKE) CC=clang SAN=address,undefined CFLAGS="-O1 -g -fsanitize=fuzzer-no-link" fuzz-built

fuzz-built: $(FUZZ_TARGETS:=.o) $(O)/libgpubench.a
	@mkdir -p build/fuzz
	@for target in $(notdir $(FUZZ_TARGETS)); do \
	    $(CC) -o build/fuzz/$$target $(O)/tests/fuzz/$$target.o $(O)/libgpubench.a -fsanitize=fuzzer $(SANFLAGS) \
	        -Wl,--as-needed $(PKG_LIBS) -lm && \
	    $(PYTHON) tests/fuzz/corpus.py unpack tests/fuzz/$$target.corpus build/fuzz/seeds/$$target || exit 1; \
	done
	@true $(foreach t,$(notdir $(FUZZ_TARGETS)),&& cp --parents $(SEEDS_$(t)) build/fuzz/seeds/$(t))

fuzz: fuzz-build ## runs them, FUZZ_SECONDS each; what is worth keeping goes into tests/fuzz/*.corpus
	@for target in $(notdir $(FUZZ_TARGETS)); do \
	    mkdir -p build/fuzz/found/$$target build/fuzz/kept/$$target && rm -f build/fuzz/kept/$$target/* && \
	    build/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -artifact_prefix=build/fuzz/ \
	        build/fuzz/found/$$target build/fuzz/seeds/$$target && \
	    build/fuzz/$$target -merge=1 -max_len=3000 build/fuzz/kept/$$target build/fuzz/found/$$target build/fuzz/seeds/$$target && \
	    $(PYTHON) tests/fuzz/corpus.py pack tests/fuzz/$$target.corpus build/fuzz/kept/$$target || exit 1; \
	done

# ---- installing ----

# Quoted, as it may hold blanks. The lists below count from it, and are what uninstall removes.
ROOT := "$(DESTDIR)$(PREFIX)"
TREES := tests/golden configs
tree_list = $(patsubst tests/%,%,$(shell find $(TREES) -depth -type $(1)))

# Each: a folder and its files.
install_lists = \
    $(call $(1),share/gpubench/results,$(wildcard results/*.schema.json)) \
    $(call $(1),share/doc/gpubench,LICENSE $(wildcard README.md CHANGELOG.md)) \
    $(call $(1),share/doc/gpubench/docs,$(wildcard docs/*)) \
    $(call $(1),share/man/man1,$(wildcard man/*.1)) \
    $(call $(1),share/man/man5,$(wildcard man/*.5)) \
    $(call $(1),share/bash-completion/completions,$(wildcard completion/gpubench))
# Nothing where there are no files.
install_files = $(if $(strip $(2)),&& install -d $(ROOT)/$(1) && install -m 644 $(2) $(ROOT)/$(1))
installed_files = $(addprefix $(1)/,$(notdir $(2)))

install: gpubench ## install under DESTDIR and PREFIX
	install -d $(ROOT)/bin $(ROOT)/share/gpubench
	install -m 755 $(O)/gpubench $(ROOT)/bin/gpubench
	cp -R $(TREES) $(ROOT)/share/gpubench/ $(call install_lists,install_files)

uninstall: ## remove what install put there
	[ ! -d $(ROOT) ] || { cd $(ROOT) && \
	    rm -f bin/gpubench $(addprefix share/gpubench/,$(call tree_list,f)) $(call install_lists,installed_files) && \
	    for folder in $(addprefix share/gpubench/,$(call tree_list,d) results) \
	        share/gpubench share/doc/gpubench/docs share/doc/gpubench; do \
	        [ ! -d $$folder ] || rmdir --ignore-fail-on-non-empty $$folder || exit 1; \
	    done; }

DIST := gpubench-$(VERSION).tar.gz
dist: ## gpubench-VERSION.tar.gz of the last commit
	git archive --prefix=gpubench-$(VERSION)/ --add-virtual-file=gpubench-$(VERSION)/REVISION:$(REVISION) \
	    -o $(DIST) HEAD

clean: ## remove all that was built
	rm -rf build gpubench gpubench-*.tar.gz

FORCE:

-include $(OBJS:.o=.d) $(UNIT_TESTS:=.d) $(KERNEL_TESTS:=.d) $(FUZZ_TARGETS:=.d)
