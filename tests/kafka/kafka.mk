# Tests against Apache Kafka: its jars come from Maven into build/kafka, nothing else is installed.
# KAFKA_VERSION=4.1.0 is another one, in a folder of its own.
KAFKA_USUAL   := 3.9.1
KAFKA_VERSION ?= $(KAFKA_USUAL)
KAFKA_LIBS    := build/kafka/libs$(patsubst %,-%,$(filter-out $(KAFKA_USUAL),$(KAFKA_VERSION)))
EKTOOL        := $(B)/tests/kafka/ektool
EKTOOL_OBJ    := $(EKTOOL).o $(B)/tests/kafka/admin.o

define kafka_jars
$(1).stamp: tests/kafka/pom.xml
	@mkdir -p $$(@D)
	$$(call say,MVN)
	$$(Q)mvn -q -B -f $$< dependency:copy-dependencies -Dkafka.version=$(2) -DoutputDirectory=$$(abspath $(1))
	$$(Q)touch $$@
endef
$(eval $(call kafka_jars,build/kafka/libs,$(KAFKA_USUAL)))
$(if $(filter-out $(KAFKA_USUAL),$(KAFKA_VERSION)),$(eval $(call kafka_jars,$(KAFKA_LIBS),$(KAFKA_VERSION))))

$(EKTOOL): $(EKTOOL_OBJ) $(TESTED_DAEMON) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(LIB_LIBS)

KAFKA = EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) $(PYTHON)

check-kafka: $(B)/evenkeel $(EKTOOL) $(KAFKA_LIBS).stamp ## against a real broker (TESTS=Class, KAFKA_VERSION=4.1.0)
	@$(KAFKA) tests/kafka/run.py $(TESTS)
soak-kafka: $(B)/evenkeel $(EKTOOL) $(KAFKA_LIBS).stamp ## 100,000 messages, 20 kills, crashing brokers; prints a table; an outage of a minute
	@$(KAFKA) tests/kafka/soak.py $(MODES)
	@$(KAFKA) tests/kafka/run.py --soak

# The same tests with a newer librdkafka, which is built first where that is possible.
RDKAFKA := build/librdkafka
newer-kafka: ## check-kafka, or GOAL=soak-kafka, with a newer librdkafka
	@if deploy/librdkafka.sh $(RDKAFKA); then \
	  $(MAKE) --no-print-directory B=$(RDKAFKA)/build LDFLAGS=-Wl,-rpath,$(abspath $(RDKAFKA))/lib \
	    PKG_CONFIG="env PKG_CONFIG_PATH=$(abspath $(RDKAFKA))/lib/pkgconfig pkg-config" $(or $(GOAL),check-kafka); \
	elif [ $$? = 77 ]; then echo "0 passed, 0 failed, 1 skipped"; else exit 1; fi

TEST_BINARIES += $(EKTOOL)
-include $(EKTOOL_OBJ:.o=.d)
.PHONY: check-kafka soak-kafka newer-kafka
