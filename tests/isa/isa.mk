# Programs without wide vector instructions: only lib/num/isa.c is compiled differently.
$(B)/tests/isa/portable.o: lib/num/isa.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -UEK_ISA_WIDEST -DEK_ISA_WIDEST=EK_ISA_PORTABLE -c -o $@ $<
PORTABLE := $(B)/tests/isa/evenkeel $(B)/tests/isa/evenkeel-tools
$(B)/tests/isa/evenkeel: $(B)/daemon/main.o
$(B)/tests/isa/evenkeel-tools: $(B)/daemon/tools/main.o
$(PORTABLE): $(B)/tests/isa/portable.o $(ARCHIVES)
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(ARCHIVES) $(ALL_LIBS)
TEST_BINARIES += $(PORTABLE)
check-isa: $(B)/evenkeel $(PORTABLE) ## the whole way with wide vectors and without them
	@EK=$(B)/evenkeel PORTABLE=$(firstword $(PORTABLE)) PYTHON=$(PYTHON) sh tests/isa/run.sh
.PHONY: check-isa
