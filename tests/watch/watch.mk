check-watch: ## rules, their tests and the dashboard, with promtool
	@$(PYTHON) tests/watch/run.py
.PHONY: check-watch
