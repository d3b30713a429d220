# Avro and Protobuf messages, compared with libraries of the Python index (avro, fastavro, protobuf), and messages of the
# serializers of confluent-kafka with a registry and a broker.

SCHEMAS_OBJ := $(B)/tests/schemas/messages.o
$(B)/tests/schemas/messages: $(SCHEMAS_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# A registry with the API of Confluent. The tests against it are skipped visibly if Maven cannot download it.
APICURIO := 3.0.9
REGISTRY := build/registry/apicurio-registry-app-$(APICURIO)-runner.jar
$(REGISTRY):
	@mkdir -p $(@D)
	$(call say,MVN)
	$(Q)mvn -q -B dependency:copy -Dartifact=io.apicurio:apicurio-registry-app:$(APICURIO):tar.gz:all -DoutputDirectory=$(abspath $(@D)) && \
	  tar xzf $(@D)/*.tar.gz -C $(@D) && rm $(@D)/*.tar.gz && touch $@ || echo "schemas: Maven gave no registry" >&2
# Serializers for Java.
SERDES := build/registry/serdes
$(SERDES).stamp: tests/schemas/java/pom.xml
	@mkdir -p $(@D)
	$(call say,MVN)
	$(Q)mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(abspath $(SERDES)) && touch $@ || \
	  echo "schemas: Maven gave no serializers for Java" >&2

check-schemas: $(B)/evenkeel $(B)/tests/schemas/messages $(REGISTRY) $(SERDES).stamp ## messages and schemas of Avro and Protobuf libraries, decoded, patched and read by them again
	@$(MAKE) --no-print-directory $(KAFKA_NEEDS) || echo "schemas: no broker" >&2
	@python=$$(sh tests/python_env.sh $(B)/schemas tests/schemas/requirements.txt) && \
	  EVENKEEL=$(B)/evenkeel EKTOOL=$(EKTOOL) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) REGISTRY=$(abspath $(REGISTRY)) SERDES=$(abspath $(SERDES)) \
	  "$$python" -B tests/exchange/run.py $(B) tests/schemas
-include $(SCHEMAS_OBJ:.o=.d)
.PHONY: check-schemas
