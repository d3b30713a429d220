check-formats: ## the formats' second readers against golden files and the documents
	@$(PYTHON) tests/format/run.py
.PHONY: check-formats
