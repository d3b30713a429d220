# Grafana's types and units, of the version in deploy/compose; checks without them are skipped.
WATCH_TOOLS := $(B)/watch-tools
GRAFANA := 11.4.0
$(B)/watch-tools.stamp: tests/watch/watch.mk
	@rm -rf $(WATCH_TOOLS) && mkdir -p $(WATCH_TOOLS)
	@if cd $(WATCH_TOOLS) && echo '{"private":true}' > package.json && \
	  timeout 60 npm install --silent --no-audit --no-fund --ignore-scripts typescript@5.4.5 @grafana/schema@$(GRAFANA) && \
	  tar -xzf "$$(timeout 60 npm pack --silent @grafana/data@$(GRAFANA))" package/dist/esm/valueFormats; \
	  then touch $(abspath $@); else rm -rf $(abspath $(WATCH_TOOLS)); fi > $(abspath $(B))/watch-tools.log 2>&1

check-watch: $(B)/watch-tools.stamp ## rules, their tests and the dashboards, with promtool and Grafana's types
	@TOOLS='$(WATCH_TOOLS)' $(PYTHON) tests/watch/run.py
.PHONY: check-watch
