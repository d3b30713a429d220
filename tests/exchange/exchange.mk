# Exchange of models with PyTorch, Keras and ONNX Runtime, in both directions.

EXCHANGE_OBJ := $(B)/tests/exchange/score.o
$(B)/tests/exchange/score: $(EXCHANGE_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

check-exchange: $(B)/evenkeel $(B)/tests/exchange/score ## models from PyTorch and Keras, ours in ONNX Runtime
	@B=$(B) sh tests/exchange/run.sh
-include $(EXCHANGE_OBJ:.o=.d)
.PHONY: check-exchange
