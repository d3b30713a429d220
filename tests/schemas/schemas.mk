# Avro and Protobuf messages, compared with libraries of the Python index (avro, fastavro, protobuf).

SCHEMAS_OBJ := $(B)/tests/schemas/messages.o
$(B)/tests/schemas/messages: $(SCHEMAS_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

check-schemas: $(B)/evenkeel $(B)/tests/schemas/messages ## messages and schemas of Avro and Protobuf libraries, decoded, patched and read by them again
	@python=$$(sh tests/python_env.sh $(B)/schemas tests/schemas/requirements.txt) && \
	  "$$python" -B tests/exchange/run.py $(B) tests/schemas
-include $(SCHEMAS_OBJ:.o=.d)
.PHONY: check-schemas
