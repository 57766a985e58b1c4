# gpubench. `make help` lists the targets.

CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= /usr/bin/python3

VERSION := 0.1.0

PKGS     := libcjson hwloc OpenCL
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
# SAN=address,undefined builds with those sanitizers, in object folders of its own.
SAN      ?=
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,)

PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# -ffp-contract=off: the model's cross products and bounds are rounded step by step (MODEL.md).
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
.PHONY: all help packages check check-unit check-kernels FORCE clean

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
	@command -v pkg-config >/dev/null && pkg-config --exists $(PKGS) || \
	    { echo "Packages that gpubench is built with are missing: run scripts/install-deps.sh" >&2; exit 1; }

# One object file an instruction set (ARCHITECTURE.md): their flags are theirs alone.
$(O)/src/cpu/isa_avx2.o:   EXTRA := -O3 -mavx2 -mfma
$(O)/src/cpu/isa_avx512.o: EXTRA := -O3 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
$(O)/src/cpu/isa_portable.o: EXTRA := -O3
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
                                 -DGPUBENCH_FLAGS='"$(CODE_FLAGS)"'

# ---- checks ----

TEST_LIBS = $(shell pkg-config --libs cmocka 2>/dev/null || echo -lcmocka)
RUN = $(PYTHON) tests/run.py

$(O)/tests/%: $(O)/tests/%.o $(O)/libgpubench.a
	$(CC) -o $@ $^ $(TEST_LIBS) $(ALL_LIBS)

$(O)/tests/%.o: EXTRA = -Itests

check-unit: $(UNIT_TESTS) ## C unit tests
	@$(RUN) --programs unit $(UNIT_TESTS)

check-kernels: $(KERNEL_TESTS) ## kernels on the OpenCL devices of this machine
	@$(RUN) --programs kernels $(KERNEL_TESTS)

clean: ## remove all that was built
	rm -rf build gpubench

FORCE:

-include $(OBJS:.o=.d) $(UNIT_TESTS:=.d) $(KERNEL_TESTS:=.d)
