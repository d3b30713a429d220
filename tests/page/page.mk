# Web page in a browser: headless Chromium on a running instance, with librdkafka's mock cluster.
PAGE_BROKER     := $(B)/tests/page/broker
PAGE_BROKER_OBJ := $(PAGE_BROKER).o
$(PAGE_BROKER): $(PAGE_BROKER_OBJ) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

PAGE = B=$(B) EVENKEEL=$(B)/evenkeel PAGE_BROKER=$(PAGE_BROKER)
check-page: $(B)/evenkeel $(PAGE_BROKER) ## the page, in headless Chromium
	@$(PAGE) sh tests/page/run.sh $(TESTS)
screenshots: $(B)/evenkeel $(PAGE_BROKER) ## draw docs/page-*.png again
	@deploy/deps.sh page
	@$(PAGE) $(PYTHON) tests/page/screenshots.py docs

TEST_BINARIES += $(PAGE_BROKER)
-include $(PAGE_BROKER_OBJ:.o=.d)
.PHONY: check-page screenshots
