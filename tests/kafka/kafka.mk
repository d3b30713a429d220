# Tests against Apache Kafka. Its jars are downloaded from Maven to build/kafka; nothing else is installed.
# KAFKA_VERSION=4.1.0 selects another version, in a separate folder.
KAFKA_USUAL   := 3.9.1
KAFKA_VERSION ?= $(KAFKA_USUAL)
KAFKA_LIBS    := build/kafka/libs$(patsubst %,-%,$(filter-out $(KAFKA_USUAL),$(KAFKA_VERSION)))
EKTOOL        := $(B)/tests/kafka/ektool
EKTOOL_OBJ    := $(EKTOOL).o $(B)/tests/kafka/admin.o
SLOW          := $(B)/tests/kafka/slow.so

$(KAFKA_LIBS).stamp: tests/kafka/pom.xml
	@mkdir -p $(@D)
	$(call say,MVN)
	$(Q)mvn -q -B -f $< dependency:copy-dependencies -Dkafka.version=$(KAFKA_VERSION) -DoutputDirectory=$(abspath $(KAFKA_LIBS))
	$(Q)touch $@
# The validator of access tokens in brokers.
TOKENS := $(KAFKA_LIBS)-classes/AwsTokens.class
$(TOKENS): tests/kafka/AwsTokens.java $(KAFKA_LIBS).stamp
	$(call say,JAVAC)
	$(Q)javac -Xlint:all -Werror -cp '$(KAFKA_LIBS)/*' -d $(@D) $<
# The documents contain commands for a broker too.
check-docs: $(EKTOOL) $(KAFKA_LIBS).stamp

$(EKTOOL): $(EKTOOL_OBJ) $(SEEN_THREADS) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(SLOW): tests/kafka/slow.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(BASE_CFLAGS) $(PKG_CFLAGS) -Wno-missing-prototypes -shared -o $@ $<

KAFKA_NEEDS = $(B)/evenkeel $(EKTOOL) $(SLOW) $(KAFKA_LIBS).stamp $(TOKENS)
KAFKA = EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) $(KAFKA_SEES) $(PYTHON)
# SANITIZE=thread: a race fails its test; effects promised within seconds may take longer.
ifneq ($(SANITIZE),)
KAFKA_SEES = SANITIZED=1 TSAN_OPTIONS=$(SEES)
endif

check-kafka: $(KAFKA_NEEDS) ## against a real broker (TESTS=Class, KAFKA_VERSION=4.1.0, GROUP_PROTOCOL=consumer, SANITIZE=thread)
	@$(KAFKA) tests/kafka/run.py $(TESTS)
check-workers: ## that each test against a broker is told of, whatever becomes of who runs it
	@$(PYTHON) tests/kafka/check_workers.py
PORT ?= 9092
broker: deps deps-broker ## a broker to try things out with, with lists in it, until Ctrl-C (PORT=9092)
	@$(MAKE) --no-print-directory $(PARALLEL) $(KAFKA_NEEDS)
	@EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) tests/kafka/serve.sh $(PORT)
soak-kafka: $(KAFKA_NEEDS) ## 100,000 messages, 20 kills, crashing brokers; an outage of a minute (MODES=exactly_once)
	@$(KAFKA) tests/kafka/soak.py $(MODES)
	@$(KAFKA) tests/kafka/run.py --soak

# All pairs of broker and librdkafka versions, one after the other, and their results.
KAFKA_VERSIONS ?= 3.9.1 4.1.0
soak-matrix: ## soak-kafka with each version of the broker and of librdkafka; prints a table
	@mkdir -p build && : > build/soak.jsonl
	@held=0; for version in $(KAFKA_VERSIONS); do \
	  $(MAKE) --no-print-directory soak-kafka KAFKA_VERSION=$$version || held=1; \
	  $(MAKE) --no-print-directory newer-kafka GOAL=soak-kafka KAFKA_VERSION=$$version || held=1; done; \
	$(PYTHON) tests/kafka/soak.py --table; exit $$held

# The same tests with a newer librdkafka, which is built first if possible.
RDKAFKA := build/librdkafka
newer-kafka: ## check-kafka, or GOAL=soak-kafka, with a newer librdkafka
	@if deploy/librdkafka.sh $(RDKAFKA); then \
	  $(MAKE) --no-print-directory B=$(RDKAFKA)/build LDFLAGS=-Wl,-rpath,$(abspath $(RDKAFKA))/lib \
	    PKG_CONFIG="env PKG_CONFIG_PATH=$(abspath $(RDKAFKA))/lib/pkgconfig pkg-config" $(or $(GOAL),check-kafka); \
	elif [ $$? = 77 ]; then echo "0 passed, 0 failed, 1 skipped"; else exit 1; fi

TEST_BINARIES += $(EKTOOL) $(SLOW)
-include $(EKTOOL_OBJ:.o=.d)
.PHONY: broker check-kafka check-workers soak-kafka soak-matrix newer-kafka

COVERED = build/coverage
list-path: $(EKTOOL) $(KAFKA_LIBS).stamp ## the modules that a list passes in `run`, measured
	@$(MAKE) --no-print-directory $(PARALLEL) B=$(COVERED) WARN=-w CFLAGS="-O0 -g --coverage" LDFLAGS=--coverage $(COVERED)/evenkeel
	@EVENKEEL=$(COVERED)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) $(PYTHON) tests/kafka/list_path.py $(COVERED)
