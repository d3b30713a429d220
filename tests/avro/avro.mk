# Avro messages, compared with the libraries of the Python index (avro and fastavro).

AVRO_OBJ := $(B)/tests/avro/messages.o
$(B)/tests/avro/messages: $(AVRO_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

check-avro: $(B)/evenkeel $(B)/tests/avro/messages ## messages and schemas of two Avro libraries, decoded, patched and read by them again
	@python=$$(sh tests/python_env.sh $(B)/avro tests/avro/requirements.txt) && \
	  "$$python" -B tests/exchange/run.py $(B) tests/avro
-include $(AVRO_OBJ:.o=.d)
.PHONY: check-avro
