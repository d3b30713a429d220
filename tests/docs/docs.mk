check-docs: all ## every command and file that README and docs show
	@$(PYTHON) tests/docs/run.py --build $(B)
.PHONY: check-docs
