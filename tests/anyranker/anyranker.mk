# Acceptance of repairs and hardened rankers, with the libraries of the rankers. Part of a release, not of `make check`.

# EK_DATA: the published sets. EK_REFERENCE: the reference of repairs. SEEDS=5 trains each ranker five times, ROWS=1,3 makes
# these rows only.
check-anyranker: $(B)/evenkeel $(B)/bench $(B)/tests/unit-tests $(B)/tests/rankers/trees $(B)/wheel.stamp ## any ranker: the acceptance table, and rankers x sets x treatments (needs EK_DATA)
	@python=$$(sh tests/python_env.sh $(B)/anyranker tests/anyranker/requirements.txt) && \
	  "$$(dirname "$$python")/pip" install -q --no-compile --disable-pip-version-check --no-index --no-deps --force-reinstall $(B)/wheel/*.whl && \
	  "$$python" tests/anyranker/table.py $(B) $(SEEDS:%=--seeds %) $(ROWS:%=--rows %)
.PHONY: check-anyranker
