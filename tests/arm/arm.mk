check-arm: ## the kernels for 64-bit ARM against the portable ones, in an emulator
	@B=$(B) sh tests/arm.sh
.PHONY: check-arm
