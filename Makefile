# urlweir: one Makefile, no recursion. `make help` lists the targets.
#
#   MODE=release|debug|asan|ubsan|tsan|fuzz   what to build, each in build/MODE
#   CC=clang                                  another compiler
#   T=url                                     only that suite, or that script
#   WITH_KAFKA=no                             leave Kafka out, and librdkafka
#   V=1                                       show commands

VERSION := 0.1.0
MODE    ?= release
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
B       := build/$(MODE)
GEN     := $B/gen
Q       := $(if $(V),,@)
SHARED  ?= ../shared

# ---- flags -----------------------------------------------------------------

PKGS := libcurl libxml-2.0 sqlite3 zlib libisal libcrypto libxxhash libpsl \
        icu-uc libpcre2-8 yaml-0.1 jansson hiredis libmicrohttpd gnutls libnghttp2 \
        libprotobuf-c libssl libbrotlidec libzstd libseccomp rdkafka
NO_KAFKA := $(filter no,$(WITH_KAFKA))
PKGS     := $(filter-out $(if $(NO_KAFKA),rdkafka),$(PKGS))
# Asked once, and only when a recipe needs it: the packages may not be there
# while this file is read.
PKG_CFLAGS   = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS     = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
CHECK_CFLAGS = $(eval CHECK_CFLAGS := $$(shell pkg-config --cflags check))$(CHECK_CFLAGS)
CHECK_LIBS   = $(eval CHECK_LIBS := $$(shell pkg-config --libs check))$(CHECK_LIBS)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes \
        -Wstrict-prototypes -Wformat=2 -Wundef -Wvla
MODE_release := -O2 -g
MODE_debug   := -O0 -g3
# Of -g a sanitizer's report needs functions and lines, which -g1 has too, and
# the build is shorter by a quarter.
MODE_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
                -fno-omit-frame-pointer
MODE_ubsan   := -O1 -g1 -fsanitize=undefined -fno-sanitize-recover=all
MODE_tsan    := -O1 -g1 -fsanitize=thread
MODE_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
                -fno-sanitize-recover=all

# Hardening: a fault of memory ends the process before it obeys a stranger.
# Sanitizer builds go without, as they find such faults themselves;
# _FORTIFY_SOURCE needs -O, and a compiler that knows no 3 takes it as 2.
# Your CFLAGS and LDFLAGS stand behind these.
X86          = $(eval X86 := $$(filter x86_64% i386% i686%,$$(shell $$(CC) -dumpmachine)))$(X86)
HARD         = -fPIE -fstack-protector-strong -fstack-clash-protection \
               $(if $(X86),-fcf-protection=full)
HARD_debug   = $(HARD)
HARD_release = $(HARD) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
LINK_debug   = -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
LINK_release = $(LINK_debug)

CPPFLAGS_ALL = -I. -I$(GEN) -D_GNU_SOURCE -DURLWEIR_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL   = -std=c17 -pthread $(WARN) $(MODE_$(MODE)) $(HARD_$(MODE)) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL  = -pthread $(filter -fsanitize%,$(MODE_$(MODE))) $(LINK_$(MODE)) $(LDFLAGS)
# Debian 12 has no bzip2.pc.
LIBS         = $(PKG_LIBS) -lbz2 -lm

# ---- files -----------------------------------------------------------------

DIRS     := base config filter storage frontier crawler job cluster service cli bindings/c
# Of Kafka's module either the file that refuses, or the other.
NOT_HERE := base/kafka/$(if $(NO_KAFKA),kafka.c,kafka_absent.c)
SRC      := $(filter-out $(NOT_HERE),$(wildcard $(DIRS:%=%/*.c) $(DIRS:%=%/*/*.c)))
LIB_SRC  := $(filter-out cli/main.c,$(SRC))
PROTO    := urlfrontier health reflection descriptor_names
PAGE     := $(notdir $(wildcard service/dashboard/*))
GEN_OBJ  := $(PROTO:%=$(GEN)/service/%.pb-c.o) $(GEN)/service/descriptor_set.o \
            $(PAGE:%=$(GEN)/service/dashboard/%.o) $(GEN)/service/openapi.o
LIB_OBJ  := $(LIB_SRC:%.c=$B/%.o) $(GEN_OBJ)
# TSan sees nothing in suites without threads, so its build leaves them out. Of
# the many that have no thread but the store's checkpointer it takes these.
CHECKPOINTER_SUITES := checkpoint db frontier frontier_disk frontier_fate
THREAD_SUITES = $(CHECKPOINTER_SUITES) $(shell tools/thread-suites.sh $(DIRS))
UNIT_OF   = $(wildcard tests/unit/*/test_$1.c tests/unit/*/*/test_$1.c)
UNIT_SRC := $(filter-out $(if $(NO_KAFKA),%/test_kafka_client.c %/test_kafka_reader.c %/test_kafka_member.c %/test_cluster_control.c %/test_cluster_steer.c),$(sort $(if $(filter tsan,$(MODE)),$(foreach s,$(THREAD_SUITES),$(call UNIT_OF,$s)),$(call UNIT_OF,*))))
UNIT_OBJ := $(UNIT_SRC:%.c=$B/%.o) $B/tests/unit/main.o
SUITES   := $(patsubst test_%,%,$(notdir $(UNIT_SRC:.c=)))
SUPPORT_SRC  := $(wildcard tests/support/*.c)
SUPPORT_BIN  := $(SUPPORT_SRC:%.c=$B/%)
BENCH_SRC    := $(wildcard bench/bench_*.c)
BENCH_BIN    := $(BENCH_SRC:%.c=$B/%)
BENCH_COMMON := $(patsubst %.c,$B/%.o,$(wildcard bench/support/*.c))
FUZZ_SRC     := $(wildcard fuzz/fuzz_*.c)
FUZZ_BIN     := $(FUZZ_SRC:%.c=$B/%)
REPLAY_BIN   := $(FUZZ_SRC:fuzz/fuzz_%.c=$B/fuzz/replay_%)
BIN          := $B/urlweir

# The library for other programs (bindings/c): its number, which changes when a
# program that was linked with it before would no longer run; and where its code
# is. Of the objects in these folders the linker takes what it needs.
SONAME   := liburlweir.so.1
SO       := $B/lib/$(SONAME).0.0
SO_DIRS  := base base/file base/process filter filter/kinds filter/redis storage/db \
            storage/index frontier/url frontier/seen frontier/dedupe crawler/charset crawler/html \
            crawler/robots crawler/sitemap
SO_API   := $(patsubst %.c,$B/pic/%.o,$(wildcard bindings/c/*.c))
SO_BELOW := $(patsubst %.c,$B/pic/%.o,$(wildcard $(SO_DIRS:%=%/*.c)))

.PHONY: all lib build-all help deps deps-kafka
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
all: $(BIN) ## build build/MODE/urlweir
lib: $(SO) ## build the C library, build/MODE/lib/liburlweir.so.1
build-all: $(BIN) $(SO) $B/unit $(SUPPORT_BIN) $(BENCH_BIN) $(REPLAY_BIN) ## build everything that is compiled

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1	\2/p' $(MAKEFILE_LIST) | expand -t 24

# ---- what must be installed ------------------------------------------------

DEPS := build/deps.stamp
$(DEPS): tools/install-deps.sh
	$(Q)tools/install-deps.sh build
	$(Q)mkdir -p $(@D) && touch $@

deps: ## install what building, tests and lint need (Debian packages)
	$(Q)tools/install-deps.sh build check lint
deps-kafka: ## install Java and Maven, for tests with Kafka brokers; they are skipped without
	$(Q)tools/install-deps.sh kafka || echo "deps-kafka: no Java here; tests with brokers are skipped"

# ---- messages of the gRPC services, made from their .proto files -------------

# The same on the wire as the .proto it is made from, see there.
$(GEN)/wire/%.proto: service/grpc/%.proto tools/wire-proto.sh | $(DEPS)
	@mkdir -p $(@D)
	$(Q)tools/wire-proto.sh <$< >$@
$(GEN)/wire/%.proto: service/urlfrontier/%.proto tools/wire-proto.sh | $(DEPS)
	@mkdir -p $(@D)
	$(Q)tools/wire-proto.sh <$< >$@
$(GEN)/service/%.pb-c.c: $(GEN)/wire/%.proto
	@mkdir -p $(@D)
	$(if $(V),,@echo "  PROTO $*")
	$(Q)protoc-c -I$(<D) --c_out=$(@D) $<
$(GEN)/service/%.pb-c.h: $(GEN)/service/%.pb-c.c ;
.PRECIOUS: $(GEN)/wire/%.proto $(GEN)/service/%.pb-c.c

# What reflection answers from, as an array of C.
$(GEN)/alpha/reflection_v1alpha.proto: service/grpc/reflection.proto
	@mkdir -p $(@D)
	$(Q)sed 's/^package .*/package grpc.reflection.v1alpha;/' $< >$@
$(GEN)/descriptor_set: $(GEN)/alpha/reflection_v1alpha.proto $(wildcard service/*/*.proto) | $(DEPS)
	$(Q)protoc -Iservice/urlfrontier -Iservice/grpc -I$(<D) --descriptor_set_out=$@ \
	    urlfrontier.proto health.proto reflection.proto $(<F)
$(GEN)/service/descriptor_set.c: $(GEN)/descriptor_set tools/embed.sh
	@mkdir -p $(@D)
	$(Q)tools/embed.sh service/grpc/descriptor_set.h descriptor_set <$< >$@

# The dashboard's files, each as an array of C.
$(GEN)/service/dashboard/%.c: service/dashboard/% tools/embed.sh
	@mkdir -p $(@D)
	$(Q)tools/embed.sh service/http/dashboard_files.h dashboard_$(subst .,_,$*) <$< >$@
.PRECIOUS: $(GEN)/service/dashboard/%.c

$(GEN)/service/openapi.c: service/http/openapi.json tools/embed.sh Makefile
	@mkdir -p $(@D)
	$(Q)tools/embed.sh service/http/http_pages.h http_openapi <$< >$@

$(GEN)/%.o: $(GEN)/%.c Makefile | $(DEPS)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -w -c -o $@ $<

GEN_H := $(PROTO:%=$(GEN)/service/%.pb-c.h)
$(filter $B/service/%,$(LIB_OBJ)) $(filter $B/tests/unit/service/%,$(UNIT_OBJ)) \
    $(BENCH_SRC:%.c=$B/%.o) $(FUZZ_SRC:%.c=$B/%.o): | $(GEN_H)

# ---- compiling and linking -------------------------------------------------

$B/%.o: %.c Makefile | $(DEPS)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $<")
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

$B/liburlweir.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar rcsP $@ $^

# The program is not linked with the library, and has its own objects: code that
# may lie anywhere and be called from outside is built again. Symbols of ours
# are hidden, so that a call within the library is a plain call.
PIC = $(filter-out -fPIE,$(HARD_$(MODE))) -fPIC -fvisibility=hidden
$B/pic/%.o: %.c Makefile | $(DEPS)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  PIC  $<")
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=c17 -pthread $(WARN) $(MODE_$(MODE)) $(PKG_CFLAGS) $(CFLAGS) $(PIC) -MMD -MP -c -o $@ $<
$B/pic/liburlweir.a: $(SO_BELOW)
	$(Q)rm -f $@ && ar rcsP $@ $^
$(SO): $(SO_API) $B/pic/liburlweir.a bindings/c/urlweir.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=bindings/c/urlweir.map \
	    -Wl,-z,defs -Wl,--as-needed $(filter-out -pie,$(LDFLAGS_ALL)) \
	    -o $@ $(SO_API) $B/pic/liburlweir.a $(LIBS)

$(BIN): $B/cli/main.o $B/liburlweir.a
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Tests compile in three quarters of the time with -O1, and do little themselves.
$B/tests/unit/%.o: EXTRA_CFLAGS = $(if $(filter release,$(MODE)),-O1) $(CHECK_CFLAGS) -Wno-missing-field-initializers -Wno-gnu-zero-variadic-macro-arguments -Wno-pedantic
$(UNIT_OBJ): | build/deps-check.stamp
$B/unit: $(UNIT_OBJ) $B/liburlweir.a
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) $(CHECK_LIBS)

# The simulator has all of the program in it. Calls to the system that it stands
# in for, which it defines with sim_ before their names, are renamed in the
# objects of the program, and main is.
SIM_OBJ := $(patsubst %.c,$B/%.o,$(wildcard tests/sim/*.c))
SIM_CALLS := $(patsubst %,$B/tests/sim/%.o,files sockets threads network memory crowd)
$B/tests/sim/%.o: EXTRA_CFLAGS = -Wno-missing-prototypes
$(SIM_OBJ): | $(GEN_H)
$B/sim.calls: $(SIM_CALLS)
	$(Q)nm $^ | sed -n 's/.* T sim_\(.*\)/\1 sim_\1/p' >$@ && echo 'main urlweir_main' >>$@
$B/simulated.a: $B/liburlweir.a $B/cli/main.o $B/sim.calls
	$(Q)cp $< $@ && ar r $@ $B/cli/main.o && objcopy --redefine-syms=$B/sim.calls $@
	$(Q)! nm $@ 2>/dev/null | grep -E ' U __(read|pread|open|openat|poll|realpath)(64)?_(chk|2)$$'
$B/sim: $(SIM_OBJ) $B/simulated.a
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# The test web is a program of many files.
$(SUPPORT_BIN): $B/%: $B/%.o $B/liburlweir.a
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$B/tests/support/site: $(patsubst %.c,$B/%.o,$(wildcard tests/support/web/*.c))

$(BENCH_BIN): $B/%: $B/%.o $(BENCH_COMMON) $B/liburlweir.a
	$(if $(V),,@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(REPLAY_BIN): $B/fuzz/replay_%: $B/fuzz/fuzz_%.o $B/fuzz/replay.o $B/liburlweir.a
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(FUZZ_BIN): $B/fuzz/fuzz_%: $B/fuzz/fuzz_%.o $B/liburlweir.a
	$(Q)$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS)

-include $(shell find $B -name '*.d' 2>/dev/null)

# ---- manual and completion ---------------------------------------------------

# The program tells what its manual and the completion of the shells are made
# from.
SHELLS  := bash zsh fish
SHARED_FILES = $B/man/.made $(SHELLS:%=$B/completion/%)
$B/man/.made: $(BIN) $(wildcard docs/man/* docs/formats/*.md) tools/make-manual.sh $(wildcard tools/*.awk)
	$(Q)tools/make-manual.sh $(abspath $(BIN)) $(abspath $(@D)) && touch $@
$B/completion/%: $(BIN)
	@mkdir -p $(@D)
	$(Q)$(BIN) completion $* >$@

# ---- tests -----------------------------------------------------------------

# A sanitizer's report is a status that no test expects, and on standard error.
export ASAN_OPTIONS  := exitcode=99:log_path=stderr$(if $(ASAN_OPTIONS),:$(ASAN_OPTIONS))
export UBSAN_OPTIONS := exitcode=99:log_path=stderr:print_stacktrace=1$(if $(UBSAN_OPTIONS),:$(UBSAN_OPTIONS))
export TSAN_OPTIONS  := exitcode=99:log_path=stderr$(if $(TSAN_OPTIONS),:$(TSAN_OPTIONS))

.PHONY: check check-unit check-fuzz check-cli check-shared check-tree check-hardening check-long check-cluster check-cluster-faults check-interop
# One after the other: apt-get does not share the system with itself.
build/deps-check.stamp: tools/install-deps.sh $(DEPS)
	$(Q)tools/install-deps.sh build check
	$(Q)mkdir -p $(@D) && touch $@

check: check-tree check-hardening check-unit check-fuzz check-shared check-sim check-cli ## all tests that need Debian packages only
	@echo "check: all passed"

check-tree: | build/deps-check.stamp
	$(Q)tools/check-layers.sh
	$(Q)CC="$(CC)" tools/check-headers.sh
	$(Q)tests/sim/plant.py check
	$(Q)tools/promises.py check

check-hardening: $(BIN)
	$(Q)$(if $(HARD_$(MODE)),tools/check-hardening.sh $(BIN) $B/cli/main.o $(if $(findstring FORTIFY,$(HARD_$(MODE))),fortified))

# Limits of time find what hangs; a busy machine is no finding.
CK_LIMITS = CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=$(if $(filter release,$(MODE)),4,8)
check-unit: build/deps-check.stamp $B/unit ## the unit tests, suites side by side (T="url robots" for some)
	$(Q)$(CK_LIMITS) tests/unit/run_unit.sh $B/unit $(or $(T),$(SUITES))

check-fuzz: build/deps-check.stamp $(REPLAY_BIN)
	$(Q)tests/replay.sh $B/fuzz

check-shared: build/deps-check.stamp $(BIN)
	$(Q)tests/shared-checks.sh $(BIN) $(SHARED)

# Documentation for tests/cli/traps-docs.sh; where it is not to be had it is
# skipped. What has a number in its name is found by an expression.
DOCS_clang      := 'clang-[0-9]+-doc'
DOCS_postgresql := 'postgresql-doc-[0-9]+'
DOCS_python3    := 'python3[.][0-9]+-doc'
RELEASE_DOCS := clang $(if $(LONG),apache2-doc cmake-doc debian-policy debian-reference-en git-doc \
    libxml2-doc postgresql python3 sqlite3-doc)
build/docs/%.stamp: tools/unpack-package.sh | build/deps-check.stamp
	$(Q)mkdir -p $(@D)
	$(Q)$< $(or $(DOCS_$*),$*) build/docs/$* $(if $(DOCS_$*),1) || :
	$(Q)touch $@

check-cli: build/deps-check.stamp $(RELEASE_DOCS:%=build/docs/%.stamp) $(BIN) $(SUPPORT_BIN) $(SHARED_FILES) $(if $(filter release,$(MODE)),$(SO))
	$(Q)tests/cli/run_cli.sh $(abspath $B) $(T)

check-long: ## the full sizes: more kills, more keys, larger webs
	$(Q)$(MAKE) --no-print-directory check LONG=1
export LONG

check-cluster: build/deps-check.stamp $(BIN) ## crawls with shards in Kafka on loopback, with faults (T=kill_worker)
	$(Q)tests/cluster.sh $(abspath $B) $(T)

check-cluster-faults: build/deps-check.stamp $(BIN) ## protections of a shard switched off: the scenarios must lose, repeat or ask too early
	$(Q)COMPILE="$(CC) $(subst ",\",$(CPPFLAGS_ALL)) $(CFLAGS_ALL)" LINK="$(CC) $(LDFLAGS_ALL)" \
	    WORK=$(abspath $B)/fault-cluster LIBS="$(LIBS)" PARTS="$B/cli/main.o $B/liburlweir.a" \
	    python3 tests/support/cluster_faults.py $(abspath $B)/fault-cluster/crawls

check-interop: build/deps-check.stamp $(BIN) $(SUPPORT_BIN) ## clients and readers from other registries
	$(Q)tests/interop/run_interop.sh $(abspath $B) $(T)

.PHONY: check-releases
check-releases: ## README's commands in a fresh Debian 12, build and unit tests in a 13 (as root; T=trixie)
	$(Q)SHARED="$(SHARED)" tools/check-releases.sh build/releases $(or $(T),bookworm trixie)

# The simulator: see docs/testing.md.
.PHONY: sim sim-faults check-sim
sim: $B/sim ## whole crawls from one number: SEED=7 (with a trace), or N=1000 seeds (FROM=1, KIND=shards)
	$(Q)LD_BIND_NOW=1 $< $(or $(SEED),-n $(or $(N),1000) $(if $(KIND),$$((($(or $(FROM),16) + 15) / 16 * 16)) 16,$(or $(FROM),1)))

check-sim: $B/sim ## some seeds of the simulator, and that a seed does the same twice
	$(Q)for i in 1 2; do { $< 11; $< 12; } >$B/sim.trace.$$i 2>&1; done; cmp $B/sim.trace.1 $B/sim.trace.2
	$(Q)LD_BIND_NOW=1 $< -n $(or $(N),1000)

sim-faults: $B/sim ## plant each fault of tests/sim/faults.txt: does the simulator find it? (N=2000 seeds, T="part of a name")
	$(Q)COMPILE="$(CC) $(subst ",\",$(CPPFLAGS_ALL)) $(CFLAGS_ALL)" LINK="$(CC) $(LDFLAGS_ALL)" \
	    WORK=$B/fault CALLS=$B/sim.calls HEALTHY=$< LIBS="$(LIBS)" \
	    PARTS="$(SIM_OBJ) $B/simulated.a" tests/sim/plant.py $(or $(N),2000) $(if $(T),"$(T)")

.PHONY: asan ubsan tsan
# Shadow memory has a fixed place, which a kernel that spreads addresses widely
# (vm.mmap_rnd_bits=32) gives to something else now and then; where it may be
# told not to, it is.
STILL = $(shell setarch -R true 2>/dev/null && echo setarch -R)
asan: ## unit tests, corpus and some command tests under ASan and UBSan
	$(Q)$(STILL) $(MAKE) --no-print-directory MODE=asan check-unit check-fuzz
	$(Q)$(STILL) $(MAKE) --no-print-directory MODE=asan check-cli T="$(SANITIZED_CLI)"
ubsan: ## the same under UBSan alone
	$(Q)$(MAKE) --no-print-directory MODE=ubsan check-unit check-fuzz
	$(Q)$(MAKE) --no-print-directory MODE=ubsan check-cli T="$(SANITIZED_CLI)"
tsan: ## the tests that have threads under TSan
	$(Q)$(STILL) $(MAKE) --no-print-directory MODE=tsan check-unit
	$(Q)$(STILL) $(MAKE) --no-print-directory MODE=tsan check-cli T="exact external serve-stress signals stuck"
# Whole crawls with every kind of page; the other scripts repeat what the
# release build has shown, at several times the price.
SANITIZED_CLI := exact external hostile-store hostile-web links robots seed-stopped serve serve-crawl serve-reports serve-stress sitemap signals stuck url

# A test that cannot fail shows nothing: see docs/mutants.md.
.PHONY: mutants
CORE := frontier storage filter job crawler/robots crawler/fetch crawler/address
mutants: build/deps-check.stamp ## change FILE (or folders, file:line) in N places, list what no test sees (PLAY=SEEDS, SIMULATOR=first)
	$(Q)CC="$(CC)" tools/mutants.py $(N:%=-n %) $(SEED:%=-s %) $(PLAY:%=--play %) \
	    $(SIMULATOR:%=--simulator %) $(or $(FILE),$(CORE))

# ---- fuzzing ---------------------------------------------------------------

.PHONY: fuzz
TIME ?= 60
fuzz: ## libFuzzer on target T for TIME seconds (needs clang)
	$(Q)test -n "$(T)" || { echo "usage: make fuzz T=url TIME=600"; exit 1; }
	$(Q)tools/install-deps.sh build lint
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang build/fuzz/fuzz/fuzz_$(T)
	$(Q)mkdir -p build/fuzz/found/$(T)
	build/fuzz/fuzz/fuzz_$(T) -max_total_time=$(TIME) -timeout=10 -rss_limit_mb=2048 \
	    -artifact_prefix=build/fuzz/found/$(T)/ build/fuzz/found/$(T) fuzz/corpus/$(T)

# ---- benchmarks ------------------------------------------------------------

.PHONY: bench
bench: $(patsubst bench/bench_%.c,bench-%,$(BENCH_SRC)) ## every benchmark, one table each
bench-%: $B/bench/bench_% $(BIN) $(SUPPORT_BIN) # ARGS: what it may be told
	$(Q)$< $(ARGS)

.PHONY: bench-redis-stalls
bench-redis-stalls: $(BIN) # ARGS=KEYS: how long others wait while a filter in Redis is made, counted, rebuilt
	$(Q)python3 bench/redis_stalls.py $(abspath $B) $(ARGS)

.PHONY: bench-cluster
bench-cluster: $(BIN) $(SUPPORT_BIN) # ARGS="PAGES HOSTS ROUNDS": a page of a crawl whose shards are in Kafka, beside one machine; ARGS=restore: a shard taken over
	$(Q)python3 bench/cluster.py $(abspath $B) $(ARGS)

.PHONY: bench-users
bench-users: $(BIN) # ARGS="USERS KEYS": what a small filter for each of many users takes, beside Redis
	$(Q)python3 bench/users.py $(abspath $B) $(ARGS)

.PHONY: bench-uses
bench-uses: $(BIN) # USERS=N ITEMS=N WEAK=N: what the uses of filters in docs/filters.md cost
	$(Q)python3 bench/uses.py $(abspath $B)

.PHONY: bench-recrawl
bench-recrawl: $(BIN) build/docs/nginx.stamp $(if $(DOCS),,build/docs/rust-doc.stamp) # DOCS=DIR:START PAGES=N WARC=1: what a recrawl of unchanged pages costs
	$(Q)bench/recrawl.sh $(BIN)

# A peer in C++: built where its compiler and its headers are, else left out.
$B/bench/bench_links: LIBS += $(shell pkg-config --libs gumbo 2>/dev/null)
bench-filter: $B/bench/peer_rocksdb
$B/bench/peer_rocksdb: bench/support/peer_rocksdb.cc
	@mkdir -p $(@D)
	$(Q)g++ -std=c++17 -O2 -o $@ $< -lrocksdb 2>$@.log || rm -f $@

# ---- demo ------------------------------------------------------------------

.PHONY: demo demo-cluster
demo: $(BIN) $(SUPPORT_BIN) ## crawl real pages, kill, resume, audit (SEEDS=URL for the real web)
	$(Q)DEMO_PACKAGES="$(or $(DEMO_PACKAGES),sqlite3-doc)" SEEDS="$(SEEDS)" tools/demo.sh $(abspath $B)
demo-cluster: build/deps-check.stamp $(BIN) $(SUPPORT_BIN) ## three workers, three Kafka brokers, a kill of each: nothing is lost
	$(Q)tools/demo-cluster.py $(abspath $B)

# ---- the look of the code --------------------------------------------------

.PHONY: lint format
C_FILES := $(SRC) $(wildcard $(DIRS:%=%/*.h) $(DIRS:%=%/*/*.h) bench/*.[ch] bench/support/*.[ch] fuzz/*.[ch] \
    $(foreach d,tests/sim tests/support tests/unit,$d/*.[ch] $d/*/*.[ch] $d/*/*/*.[ch]))
build/deps-lint.stamp: tools/install-deps.sh build/deps-check.stamp
	$(Q)tools/install-deps.sh build check lint
	$(Q)mkdir -p $(@D) && touch $@
lint: build/deps-lint.stamp $(GEN_H) ## layout, clang-tidy, cppcheck, gcc -fanalyzer
	$(Q)CPPFLAGS='-I. -isystem $(GEN) -D_GNU_SOURCE -DURLWEIR_VERSION="$(VERSION)" $(PKG_CFLAGS)' tools/lint.sh $(SRC)

format: build/deps-lint.stamp ## lay the code out with clang-format
	$(Q)clang-format -i $(C_FILES)

# ---- installing ------------------------------------------------------------

.PHONY: install uninstall clean
export DESTDIR PREFIX SYSCONFDIR
# Exported, it would not follow the PREFIX of a make below this one.
INSTALL_SH = LIBDIR="$(LIBDIR)" SONAME=$(SONAME) VERSION=$(VERSION) tools/install.sh
install: $(BIN) $(SO) $(SHARED_FILES) ## install under DESTDIR/PREFIX, settings under DESTDIR/SYSCONFDIR
	$(Q)$(INSTALL_SH) install $(abspath $B)

uninstall: $(SHARED_FILES) ## remove what install put there
	$(Q)$(INSTALL_SH) uninstall $(abspath $B)

# ---- releases --------------------------------------------------------------

.PHONY: dist deb rpm check-deb check-rpm check-container
dist: ## the tarball of a release and its SHA-256, in build/dist
	$(Q)tools/make-dist.sh $(VERSION) build/dist

deb: ## Debian packages, in build/deb (needs debhelper)
	$(Q)tools/make-deb.sh $(VERSION) build/deb

rpm: ## RPM packages, in build/rpm (needs rpmbuild)
	$(Q)tools/make-rpm.sh $(VERSION) build/rpm

check-rpm: $(BIN) $(SHARED_FILES) ## build them and compare what they hold with make install
	$(Q)tools/check-rpm.sh $(VERSION) build/check-rpm

check-container: dist ## build the image on a minimal system of Debian and run it (as root, needs buildah)
	$(Q)tools/check-container.sh $(VERSION) build/check-container

check-deb: $(SUPPORT_BIN) ## build, install, upgrade and purge them in a minimal system (as root; T=trixie)
	$(Q)for release in $(or $(T),bookworm trixie); do \
	    tools/check-deb.sh $(VERSION) build/check-deb $(abspath $B/tests/support/site) $$release || exit 1; \
	done

clean: ## remove build/
	rm -rf build
