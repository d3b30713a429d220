# The user's own ranker: trees of LightGBM and XGBoost, and ONNX, compared with these libraries.

RANKERS_OBJ := $(B)/tests/rankers/trees.o
$(B)/tests/rankers/trees: $(RANKERS_OBJ) $(LIBRARIES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

check-rankers: $(B)/evenkeel $(B)/tests/rankers/trees ## models of LightGBM, XGBoost and ONNX, against these libraries
	@python=$$(sh tests/python_env.sh $(B)/rankers tests/rankers/requirements.txt) && \
	  "$$python" -B tests/exchange/run.py $(B) tests/rankers
-include $(RANKERS_OBJ:.o=.d)
.PHONY: check-rankers
