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
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -ffp-contract=off -fopenmp $(SANFLAGS) -Isrc -Ikernels \
              -DCL_TARGET_OPENCL_VERSION=300 $(PKG_CFLAGS)
ALL_LIBS   := $(LDFLAGS) $(SANFLAGS) -fopenmp $(PKG_LIBS) -ldl -lm

# Objects of different flags never mix: each set has a folder of its own.
FLAGS_ID := $(shell printf '%s' "$(CC) $(ALL_CFLAGS)" | cksum | cut -d' ' -f1)
O        := build/$(FLAGS_ID)

SRCS    := $(sort $(wildcard src/*/*.c))
OBJS    := $(SRCS:%.c=$(O)/%.o) $(O)/kernels_embedded.o
LIBOBJS := $(filter-out $(O)/src/cli/main.o,$(OBJS))

KERNELS := $(sort $(wildcard kernels/*.cl kernels/*.h))

all: gpubench

gpubench: $(O)/gpubench
	@ln -sf $< $@ 2>/dev/null || cp $< $@

$(O)/gpubench: $(OBJS)
	$(CC) -o $@ $^ $(ALL_LIBS)

# One object file an instruction set (ARCHITECTURE.md): their flags are theirs alone.
$(O)/src/cpu/isa_avx2.o:   EXTRA := -O3 -mavx2 -mfma
$(O)/src/cpu/isa_avx512.o: EXTRA := -O3 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
$(O)/src/cpu/isa_portable.o: EXTRA := -O3
$(O)/src/cpu/scalar.o:     EXTRA := -O2 -fno-tree-vectorize

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

-include $(OBJS:.o=.d)
