check-docs: all ## every command and file that README and docs show
	@$(PYTHON) tests/docs/terms.py
	@$(PYTHON) tests/docs/site.py
	@CC='$(CC)' CXX='$(CXX)' EKTOOL=$(abspath $(EKTOOL)) KAFKA_LIBS=$(abspath $(KAFKA_LIBS)) $(PYTHON) tests/docs/run.py --build $(B)
.PHONY: check-docs
