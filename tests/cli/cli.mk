check-cli: $(B)/evenkeel ## the real program, driven by scripts
	@EK=$(B)/evenkeel sh tests/cli/run.sh
.PHONY: check-cli
