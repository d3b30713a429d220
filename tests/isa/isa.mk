# The program as on a machine without wide vectors: lib/num/isa.c alone is compiled otherwise.
$(B)/tests/isa/portable.o: lib/num/isa.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -UEK_ISA_WIDEST -DEK_ISA_WIDEST=EK_ISA_PORTABLE -c -o $@ $<
$(B)/tests/evenkeel-portable: $(DAEMON_OBJ) $(B)/tests/isa/portable.o $(B)/libevenkeel.a
	$(call say,LD)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS) $(LIB_LIBS)
TEST_BINARIES += $(B)/tests/evenkeel-portable
check-isa: $(B)/evenkeel $(B)/tests/evenkeel-portable ## the whole way with wide vectors and without them
	@EK=$(B)/evenkeel PORTABLE=$(B)/tests/evenkeel-portable PYTHON=$(PYTHON) sh tests/isa/run.sh
.PHONY: check-isa
