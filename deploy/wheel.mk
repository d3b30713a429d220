# make wheel: the Python package (python/), into build/wheel.

# Interpreter of the wheel: with 3.12 or newer, the wheel is for all later versions (stable ABI).
WHEEL_PYTHON ?=
# Environments of different interpreters differ.
WHEEL_ENV = $(B)/wheel-env$(subst /,-,$(WHEEL_PYTHON))
WHEEL_ENV_PYTHON = python=$$(SYSTEM_PYTHON=$(WHEEL_PYTHON) sh tests/python_env.sh $(WHEEL_ENV)/build python/requirements.txt)
WHEEL_SRC := $(sort $(wildcard python/*.t* python/src/* python/evenkeel/*.py*))
WHEEL_WORK = $(abspath $(B))/wheel-work
# Debian has no static simdjson, so the wheel contains the shared one.
WHEEL_SHARED := simdjson
WHEEL_LIBS = $(foreach word,$(filter -l%,$(LIB_LIBS)),$(if $(filter $(WHEEL_SHARED:%=-l%) -lstdc++ -lm,$(word)),$(word),$(word:-l%=-l:lib%.a)))
# The tag says which C libraries the wheel can use: auditwheel reads that from its symbols. With sanitizers it has none.
WHEEL_MADE := $(B)/wheel-made
WHEEL_TAG = $(if $(SANITIZE),mv $(WHEEL_MADE) $(B)/wheel,SOURCE_DATE_EPOCH=$(DIST_EPOCH) PATH="$$(dirname "$$python"):$$PATH" \
  "$$python" -m auditwheel repair --plat auto --wheel-dir $(B)/wheel $(WHEEL_MADE)/*.whl)
# A cross build has the version of Python of the building system, whose headers are in the root folder of the libraries.
ifneq ($(TABLES_B),$(B))
WHEEL_ARCH  = $(firstword $(subst -, ,$(TRIPLET)))
WHEEL_ENVIRONMENT = _PYTHON_HOST_PLATFORM=linux-$(WHEEL_ARCH) SETUPTOOLS_EXT_SUFFIX="$$("$$python" -c \
  'import sys; print(f".{sys.implementation.cache_tag}-$(TRIPLET).so")')"
WHEEL_CROSS = --config-settings=cmake.define.CMAKE_SYSTEM_NAME=Linux --config-settings=cmake.define.CMAKE_SYSTEM_PROCESSOR=$(WHEEL_ARCH) \
  "--config-settings=cmake.define.Python_INCLUDE_DIR=$(SYSROOT)$$("$$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')"
endif
# Copy the shared libraries, and the licenses of all, into a folder.
copy_shared = for name in $(WHEEL_SHARED); do file=$$($(CC) -print-file-name=lib$$name.so) && \
  cp -L $$file $(1)/$$(readelf -d $$file | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p') || exit 1; done
copy_licenses = cp LICENSE $(1)/ && for package in $(WHEEL_PACKAGES); do \
  [ ! -e /usr/share/doc/$$package/copyright ] || cp -L /usr/share/doc/$$package/copyright $(1)/$$package; done
# Packages whose licenses the wheel contains.
WHEEL_PACKAGES := libmsgpack-dev libyaml-dev libsimdjson-dev libzstd-dev zlib1g-dev libxxhash-dev

$(B)/wheel-python.stamp: FORCE
	$(call keep,echo '$(WHEEL_PYTHON)')
$(B)/wheel.stamp: $(LIBRARIES) $(B)/wheel-python.stamp $(WHEEL_SRC) LICENSE deploy/wheel.mk deploy/portable.c tests/python_env.sh
	@SYSTEM_PYTHON=$(WHEEL_PYTHON) deploy/deps.sh wheel
	$(call say,WHEEL)
	$(Q)rm -rf $(B)/wheel $(WHEEL_WORK)/shared $(WHEEL_WORK)/licenses $(WHEEL_MADE) && mkdir -p $(WHEEL_WORK)/shared $(WHEEL_WORK)/licenses
	$(Q)$(call copy_licenses,$(WHEEL_WORK)/licenses) && $(call copy_shared,$(WHEEL_WORK)/shared)
	$(Q)$(WHEEL_ENV_PYTHON) && \
	  SOURCE_DATE_EPOCH=$(DIST_EPOCH) $(WHEEL_ENVIRONMENT) PATH="$$(dirname "$$python"):$$PATH" "$$python" -m pip wheel -q --no-deps --no-build-isolation \
	  --disable-pip-version-check --no-cache-dir --wheel-dir $(WHEEL_MADE) \
	  '--config-settings=build-dir=$(WHEEL_WORK)/{wheel_tag}' \
	  --config-settings=cmake.define.EK_SOURCE=$(CURDIR) \
	  "--config-settings=cmake.define.EK_LIBRARY=$(abspath $(LIBRARIES))" \
	  "--config-settings=cmake.define.EK_LIBRARIES=$(WHEEL_LIBS)" $(WHEEL_CROSS) \
	  "--config-settings=cmake.define.EK_FLAGS=$(SAN_FLAGS)" $(if $(SANITIZE),--config-settings=cmake.build-type=RelWithDebInfo) \
	  --config-settings=cmake.define.EK_EXTRA=$(WHEEL_WORK) ./python && $(WHEEL_TAG)
	$(Q)touch $@
wheel: $(B)/wheel.stamp ## the Python package, into build/wheel; WHEEL_PYTHON=python3.12: for 3.12 and later
	@ls -l $(B)/wheel
wheel-arm: $(ARM64_ROOT).stamp $(B)/unit-table ## the Python package for 64-bit ARM, into build/arm64/wheel
	+@$(ARM64_MAKE) WHEEL_ENV=$(WHEEL_ENV) wheel
.PHONY: wheel wheel-arm
