check-formats: $(B)/evenkeel ## the formats' second readers against golden files and the documents
	@EK=$(B)/evenkeel $(PYTHON) tests/format/run.py
.PHONY: check-formats
