# make dist: everything that a release publishes, into build/dist. Intermediate files are in build/dist-work.

# Portable programs take their shared libraries along, in ../lib/evenkeel. Libraries that nothing else there uses are
# linked statically. Transitive libraries are found only by DT_RPATH.
PORTABLE_B := $(B)/portable
STATIC   := yaml xxhash utf8proc streamvbyte stemmer
PORTABLE_LINK = $(CC) $(UNUSED) $(LDFLAGS) -s -Wl,-rpath,'$$ORIGIN/../lib/evenkeel' -Wl,--disable-new-dtags \
                -Wl,--exclude-libs,ALL -Wl,--wrap=hypot -o $@ $(filter %.o %.a,$^)
archives = $(foreach word,$(1),$(if $(filter $(STATIC:%=-l%),$(word)),$(word:-l%=-l:lib%.a),$(word)))
# Root folder of the libraries.
SYSROOT ?= /
TRIPLET  = $(shell $(CC) -dumpmachine)
PORTABLE_PROGRAMS := $(PORTABLE_B)/bin/evenkeel $(PORTABLE_B)/bin/evenkeel-tools

$(PORTABLE_B)/bin/evenkeel: $(B)/daemon/main.o $(B)/deploy/portable.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PORTABLE_LINK) $(call archives,$(DAEMON_LIBS) $(LIB_LIBS))
$(PORTABLE_B)/bin/evenkeel-tools: $(B)/daemon/tools/main.o $(B)/deploy/portable.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PORTABLE_LINK) $(call archives,$(TOOLS_LIBS) $(LIB_LIBS))
$(PORTABLE_B).stamp: $(PORTABLE_PROGRAMS) deploy/libraries.py
	$(Q)rm -rf $(PORTABLE_B)/lib && mkdir -p $(PORTABLE_B)/lib/evenkeel && \
	  cp -L $$($(PYTHON) deploy/libraries.py $(SYSROOT) $(TRIPLET) $(PORTABLE_PROGRAMS)) $(PORTABLE_B)/lib/evenkeel/ && touch $@

# gcc 12.2 for ARM fails to vectorize these files (vect_transform_reduction).
ifneq ($(TABLES_B),$(B))
$(addprefix $(B)/,daemon/tools/select/select_picture.o lib/detect/fit_transform.o lib/offline/scale/crossval.o): EXTRA := -fno-tree-vectorize
endif

# 64-bit ARM: cross built with the libraries of that architecture from the same distribution.
ARM64_ROOT := $(abspath $(B)/sysroot-arm64)
ARM64_MAKE  = $(MAKE) --no-print-directory B=$(B)/arm64 TABLES_B=$(B) SYSROOT=$(ARM64_ROOT) AR=aarch64-linux-gnu-ar \
              CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64_ROOT)' CXX='aarch64-linux-gnu-g++ --sysroot=$(ARM64_ROOT)' \
              PKG_CONFIG='env PKG_CONFIG_SYSROOT_DIR=$(ARM64_ROOT) PKG_CONFIG_LIBDIR=$(ARM64_ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig pkg-config'
$(ARM64_ROOT).stamp: deploy/deps.sh
	@deploy/deps.sh arm64
	$(Q)rm -rf $(ARM64_ROOT) && mmdebstrap --quiet --variant=extract --architectures=arm64 \
	  --include=$$(deploy/deps.sh --libraries),libpython3-dev $$(. /etc/os-release && echo $$VERSION_CODENAME) $(ARM64_ROOT)
	$(Q)find $(ARM64_ROOT) -type l -lname '/*' | while read -r link; do ln -snf "$(ARM64_ROOT)$$(readlink "$$link")" "$$link" || exit 1; done
	$(Q)touch $@
$(B)/arm64/portable.stamp: $(ARM64_ROOT).stamp $(B)/unit-table $(B)/page-table FORCE
	+$(Q)$(ARM64_MAKE) $@

DIST      := $(B)/dist
DIST_WORK := $(B)/dist-work
DIST_ARCHES ?= $(shell dpkg --print-architecture)
DIST_NAME := evenkeel-$(VERSION)
# The date of the packaging, unless the caller has another.
DIST_EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell date -ud "$$(sed -n 's/^ -- .*>  //p' deploy/debian/changelog | head -n 1)" +%s))
DIST_TAR   = tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@$(DIST_EPOCH) -c
DIST_TREES = $(DIST_ARCHES:%=$(DIST_WORK)/$(DIST_NAME)-linux-%)
portable_of = $(if $(filter arm64,$(1)),$(B)/arm64/portable,$(PORTABLE_B))
root_of     = $(if $(filter arm64,$(1)),$(ARM64_ROOT) aarch64-linux-gnu,/ $(TRIPLET))
rpm_arch    = $(if $(filter arm64,$(1)),aarch64,x86_64)

# Packages of the libraries in the portable programs, for licenses and SBOM.
$(DIST_WORK)/packages: $(PORTABLE_B).stamp
	@mkdir -p $(@D)
	$(Q)for kind in '' --of-system; do $(PYTHON) deploy/libraries.py $$kind / $(TRIPLET) $(PORTABLE_PROGRAMS); done > $@.new
	$(Q)dpkg -S $(STATIC:%='*/$(TRIPLET)/lib%.a') $$(sed 's|.*/|*/$(TRIPLET)/|' $@.new) | sed 's/:.*//' | LC_ALL=C sort -u > $@.new2 && \
	  rm $@.new && mv $@.new2 $@
$(DIST_WORK)/evenkeel.spdx.json: $(DIST_WORK)/packages $(B)/evenkeel.spdx.json
	$(Q)SOURCE_DATE_EPOCH=$(DIST_EPOCH) $(PYTHON) deploy/sbom.py $(VERSION) $(B)/evenkeel $(B)/evenkeel-tools $(B)/libevenkeel.so \
	  $$(cat $<) > $@.new && mv $@.new $@

# What all architectures share, below a prefix.
$(DIST_WORK)/common.stamp: all $(DIST_WORK)/evenkeel.spdx.json FORCE
	$(Q)rm -rf $(DIST_WORK)/root && $(MAKE) --no-print-directory install DESTDIR=$(CURDIR)/$(DIST_WORK)/root PREFIX=/usr/local \
	  LIBDIR=/usr/local/lib > $(DIST_WORK)/install.log
	$(Q)cd $(DIST_WORK)/root/usr/local && rm -rf bin include lib/pkgconfig lib/libevenkeel* && mkdir -p share/doc/evenkeel/licenses
	$(Q)cp -r deploy/etc/example $(DIST_WORK)/root/usr/local/share/evenkeel/
	$(Q)cp LICENSE CHANGELOG.md $(DIST_WORK)/evenkeel.spdx.json $(DIST_WORK)/root/usr/local/share/doc/evenkeel/
	$(Q)for package in $$(cat $(DIST_WORK)/packages); do \
	  cp -L /usr/share/doc/$$package/copyright $(DIST_WORK)/root/usr/local/share/doc/evenkeel/licenses/$$package || exit 1; done
	$(Q)touch $@
$(DIST_WORK)/$(DIST_NAME)-linux-%: $(DIST_WORK)/common.stamp $(PORTABLE_B).stamp $(if $(filter arm64,$(DIST_ARCHES)),$(B)/arm64/portable.stamp) FORCE
	$(Q)rm -rf $@ && cp -r $(DIST_WORK)/root/usr/local $@ && cp -r $(call portable_of,$*)/. $@/
	$(Q)deploy/image_layers.sh $(call root_of,$*) $(call portable_of,$*) $@ $(DIST_WORK)/image-$*

dist-archives: $(DIST_TREES)
	$(Q)mkdir -p $(DIST)
	$(Q)for arch in $(DIST_ARCHES); do $(DIST_TAR) -C $(DIST_WORK) $(DIST_NAME)-linux-$$arch | \
	  gzip -n > $(DIST)/$(DIST_NAME)-linux-$$arch.tar.gz || exit 1; done
	$(Q)$(DIST_TAR) -C deploy/helm evenkeel | gzip -n > $(DIST)/$(DIST_NAME).tgz
	$(Q)SOURCE_DATE_EPOCH=$(DIST_EPOCH) $(PYTHON) deploy/oci.py $(VERSION) $(DIST)/$(DIST_NAME)-oci.tar \
	  $(foreach arch,$(DIST_ARCHES),$(arch)=$(DIST_WORK)/image-$(arch))
	$(Q)for arch in $(DIST_ARCHES); do SOURCE_DATE_EPOCH=$(DIST_EPOCH) \
	  deploy/portable_deb.sh $(DIST_WORK)/$(DIST_NAME)-linux-$$arch $$arch $(DIST) || exit 1; done
	$(Q)cp $(DIST_WORK)/evenkeel.spdx.json $(DIST)/$(DIST_NAME).spdx.json
dist-rpm: $(DIST_TREES)
	$(Q)mkdir -p $(DIST)
	$(Q)$(foreach arch,$(DIST_ARCHES),SOURCE_DATE_EPOCH=$(DIST_EPOCH) rpmbuild -bb --quiet --target $(call rpm_arch,$(arch)) \
	  --define '_topdir $(CURDIR)/$(DIST_WORK)/rpm' --define '_rpmdir $(CURDIR)/$(DIST)' --define '_build_name_fmt %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' \
	  --define 'tree $(CURDIR)/$(DIST_WORK)/$(DIST_NAME)-linux-$(arch)' --define 'ek_version $(VERSION)' \
	  --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost reproducible' \
	  --define '_build_id_links none' --define '__os_install_post %{nil}' --define 'debug_package %{nil}' --define '_binary_payload w12.zstdio' \
	  deploy/rpm/evenkeel.spec > $(DIST_WORK)/rpm.log 2>&1 || { tail -n 20 $(DIST_WORK)/rpm.log; exit 1; };)

# The Python package, for the interpreter of WHEEL_PYTHON. The SBOM of the release describes it with the programs.
wheel_of = $(if $(filter arm64,$(1)),$(B)/arm64/wheel,$(B)/wheel)
dist-wheels: $(if $(filter arm64,$(DIST_ARCHES)),wheel-arm) $(if $(filter-out arm64,$(DIST_ARCHES)),wheel) $(DIST_WORK)/packages
	$(Q)mkdir -p $(DIST)
	$(Q)cp $(foreach arch,$(DIST_ARCHES),$(call wheel_of,$(arch))/*.whl) $(DIST)/
	$(Q)SOURCE_DATE_EPOCH=$(DIST_EPOCH) $(PYTHON) deploy/sbom.py $(VERSION) $(B)/evenkeel $(B)/evenkeel-tools $(B)/libevenkeel.so \
	  $$(cat $(DIST_WORK)/packages) $(DIST)/*.whl > $(DIST_WORK)/release.spdx.json && mv $(DIST_WORK)/release.spdx.json $(DIST)/$(DIST_NAME).spdx.json

# The sources, and a Homebrew formula that builds them. In a clone, those that git knows.
DIST_SOURCE := $(DIST_NAME)-source
DIST_URL ?= https://evenkeel.invalid/releases/$(VERSION)
DIST_FILES = if [ -e .git ]; then git ls-files -z; else \
             find . \( -path ./build -o -name __pycache__ \) -prune -o ! -type d -printf '%P\0'; fi | LC_ALL=C sort -z
dist-source:
	$(Q)mkdir -p $(DIST)
	$(Q)$(DIST_FILES) | $(DIST_TAR) --null --no-recursion -T - --transform 's,^,$(DIST_SOURCE)/,S' | gzip -n > $(DIST)/$(DIST_SOURCE).tar.gz
	$(Q)sed -e 's|@URL@|$(DIST_URL)/$(DIST_SOURCE).tar.gz|' -e 's|@VERSION@|$(VERSION)|' \
	  -e "s|@SHA256@|$$(sha256sum < $(DIST)/$(DIST_SOURCE).tar.gz | cut -d ' ' -f 1)|" deploy/homebrew/evenkeel.rb.in > $(DIST)/evenkeel.rb

# GPG_KEY: key id, MINISIGN_KEY: file. Without a key nothing is signed.
dist-sums:
	$(Q)cd $(DIST) && rm -f SHA256SUMS* && LC_ALL=C sha256sum -- * > ../SHA256SUMS && mv ../SHA256SUMS .
	$(Q)$(if $(GPG_KEY),gpg --batch --yes --local-user $(GPG_KEY) --armor --detach-sign $(DIST)/SHA256SUMS)
	$(Q)$(if $(MINISIGN_KEY),minisign -S -s $(MINISIGN_KEY) -m $(DIST)/SHA256SUMS)
dist: ## all artifacts of a release, into build/dist; DIST_ARCHES="amd64 arm64", GPG_KEY=, MINISIGN_KEY=
	@deploy/deps.sh dist
	$(Q)rm -rf $(DIST)
	$(Q)$(MAKE) --no-print-directory dist-archives dist-rpm dist-source deb > /dev/null && $(MAKE) --no-print-directory dist-wheels > /dev/null && cp $(DEB)/*.deb $(DIST)/
	$(Q)$(MAKE) --no-print-directory dist-sums
	@ls -l $(DIST)
.PHONY: dist dist-archives dist-rpm dist-wheels dist-source dist-sums
