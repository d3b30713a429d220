# Tests against Apache Kafka: its jars come from Maven into build/kafka, nothing else is installed.
KAFKA_LIBS := build/kafka/libs
EKTOOL     := $(B)/tests/kafka/ektool

build/kafka/libs.stamp: tests/kafka/pom.xml
	@mkdir -p $(@D)
	$(call say,MVN)
	$(Q)mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(abspath $(KAFKA_LIBS))
	$(Q)touch $@

EKTOOL_OBJ := $(EKTOOL).o $(B)/tests/kafka/admin.o

$(EKTOOL): $(EKTOOL_OBJ) $(TESTED_DAEMON) $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(LIB_LIBS)

check-kafka: $(B)/evenkeel $(EKTOOL) build/kafka/libs.stamp ## against a real broker
	@EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) \
	  $(PYTHON) tests/kafka/run.py $(TESTS)

soak-kafka: $(B)/evenkeel $(EKTOOL) build/kafka/libs.stamp ## 100,000 messages, 20 kills, crashing brokers; prints a table
	@EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) \
	  $(PYTHON) tests/kafka/soak.py $(MODES)

TEST_BINARIES += $(EKTOOL)
-include $(EKTOOL_OBJ:.o=.d)
.PHONY: check-kafka soak-kafka
