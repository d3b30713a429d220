package evenkeel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Functions of libevenkeel.
 *
 * The system property {@code evenkeel.library} is the path of the library; without it, the copy in the jar is used. Strings of
 * the library are UTF-8.
 */
@SuppressWarnings("restricted")
final class Native {
    static final AddressLayout POINTER = ValueLayout.ADDRESS;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG; // int64_t, uint64_t and size_t
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE;
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    /** Result codes of enum ek_code that become other exceptions than IllegalArgumentException. */
    private static final int OUT_OF_MEMORY = 1, IO = 2, STATE = 7;
    private static final String FOLDER = "/native/" + System.getProperty("os.arch").replace("amd64", "x86_64") + "/";
    private static final SymbolLookup LIBRARY = load();

    static final MethodHandle ERROR_NEW = function("ek_error_new", POINTER);
    static final MethodHandle ERROR_FREE = procedure("ek_error_free", POINTER);
    static final MethodHandle ERROR_MESSAGE = function("ek_error_message", POINTER, POINTER);
    static final MethodHandle ASSETS_LOAD =
        function("ek_assets_load", INT, POINTER, POINTER, POINTER, POINTER, POINTER, POINTER);
    static final MethodHandle ASSETS_FREE = procedure("ek_assets_free", POINTER);
    static final MethodHandle ASSETS_WRITE_FEATURES = procedure("ek_assets_write_features", POINTER);
    static final MethodHandle GUARD_NEW = function("ek_guard_new", INT, POINTER, POINTER, POINTER);
    static final MethodHandle GUARD_FREE = procedure("ek_guard_free", POINTER);
    static final MethodHandle GUARD_OBSERVE_VALUES = function("ek_guard_observe_values", INT, POINTER, POINTER, LONG, POINTER);
    static final MethodHandle GUARD_POP_EVENT = function("ek_guard_pop_event", POINTER, POINTER);
    static final MethodHandle GUARD_PLAN_VERSION = function("ek_guard_plan_version", LONG, POINTER);
    static final MethodHandle GUARD_PLAN = function("ek_guard_plan", POINTER, POINTER, POINTER, POINTER);
    static final MethodHandle EVENT_IS_FINDING = function("ek_event_is_finding", INT, POINTER);
    static final MethodHandle EVENT_FINDING_NUMBER = function("ek_event_finding_number", INT, POINTER);
    static final MethodHandle EVENT_FACTOR = function("ek_event_factor", DOUBLE, POINTER, POINTER, POINTER);
    static final MethodHandle EVENT_FRACTION = function("ek_event_fraction", DOUBLE, POINTER);
    static final MethodHandle EVENT_SINCE = function("ek_event_since", LONG, POINTER, POINTER);
    static final MethodHandle EVENT_STATE = eventText("state");
    static final MethodHandle EVENT_FEATURE = eventText("feature");
    static final MethodHandle EVENT_SEGMENT = eventText("segment");
    static final MethodHandle EVENT_SEGMENT_VALUE = eventText("segment_value");
    static final MethodHandle EVENT_CLASS = eventText("class");
    static final MethodHandle EVENT_UNIT = eventText("unit");
    static final MethodHandle EVENT_ACTION = eventText("action");
    static final MethodHandle EVENT_MODE = eventText("mode");
    static final MethodHandle APPLIER_NEW = function("ek_applier_new", INT, POINTER, POINTER, LONG, POINTER);
    static final MethodHandle APPLIER_FREE = procedure("ek_applier_free", POINTER);
    static final MethodHandle PLAN_APPLY = function("ek_plan_apply", INT, POINTER, POINTER, POINTER, POINTER);

    private static final StructLayout SEGMENT_VALUE =
        MemoryLayout.structLayout(POINTER.withName("name"), POINTER.withName("value"));
    private static final StructLayout ARRAY_LIST = MemoryLayout.structLayout(
        POINTER.withName("id"), LONG.withName("time_ms"), POINTER.withName("segment"), LONG.withName("segments"),
        POINTER.withName("query_features"), LONG.withName("query_count"), POINTER.withName("item_id"),
        POINTER.withName("features"), LONG.withName("items"), LONG.withName("feature_count"), LONG.withName("item_stride"),
        LONG.withName("feature_stride"), POINTER.withName("scores"));

    private Native() {
    }

    private static SymbolLookup load() {
        String path = System.getProperty("evenkeel.library");
        try {
            return path == null ? loadFromJar() : SymbolLookup.libraryLookup(Path.of(path), Arena.global());
        } catch (IOException why) {
            throw new UncheckedIOException(why);
        }
    }

    /** Load the library from the jar; the file {@code names} has the names of its files there. */
    private static SymbolLookup loadFromJar() throws IOException {
        List<Path> files = new ArrayList<>();
        Path folder = Files.createTempDirectory("evenkeel-");
        try {
            for (String name : new String(resource("names").readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                files.add(folder.resolve(name));
                try (InputStream in = resource(name)) {
                    Files.copy(in, files.getLast());
                }
            }
            return SymbolLookup.libraryLookup(folder.resolve("libevenkeel.so"), Arena.global());
        } finally {
            for (Path file : files)
                Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    private static InputStream resource(String name) throws IOException {
        InputStream in = Native.class.getResourceAsStream(FOLDER + name);
        if (in == null)
            throw new IOException("the jar has no libevenkeel for this processor (" + FOLDER + name +
                                  "); set -Devenkeel.library to its path");
        return in;
    }

    private static MethodHandle handle(String name, FunctionDescriptor type) {
        MemorySegment address = LIBRARY.find(name).orElseThrow(
            () -> new UnsatisfiedLinkError("libevenkeel has no function " + name + "; use the library of this version"));
        return Linker.nativeLinker().downcallHandle(address, type);
    }

    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(result, arguments));
    }

    private static MethodHandle procedure(String name, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.ofVoid(arguments));
    }

    private static MethodHandle eventText(String field) {
        return function("ek_event_" + field, POINTER, POINTER);
    }

    /** Call a function. A method handle can throw anything; the library throws nothing. */
    static Object call(MethodHandle function, Object... arguments) {
        try {
            return function.invokeWithArguments(arguments);
        } catch (RuntimeException | Error why) {
            throw why;
        } catch (Throwable why) {
            throw new IllegalStateException(why);
        }
    }

    static MemorySegment pointer(MethodHandle function, Object... arguments) {
        return (MemorySegment) call(function, arguments);
    }

    static String text(MemorySegment pointer) {
        return pointer.address() == 0 ? null : pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    static MemorySegment textIn(Arena arena, String text) {
        return text == null ? MemorySegment.NULL : arena.allocateFrom(text);
    }

    /** A call that returns a code, given the pointer of an error. */
    interface Fallible {
        int run(MemorySegment error);
    }

    /** Run a call, and throw the exception for its code. */
    static void check(Fallible function) {
        MemorySegment error = pointer(ERROR_NEW);
        try {
            int code = function.run(error);
            if (code == OUT_OF_MEMORY || error.address() == 0)
                throw new OutOfMemoryError("libevenkeel");
            if (code != 0)
                throw exception(code, text(pointer(ERROR_MESSAGE, error)));
        } finally {
            call(ERROR_FREE, error);
        }
    }

    private static RuntimeException exception(int code, String message) {
        return switch (code) {
            case IO -> new UncheckedIOException(new IOException(message));
            case STATE -> new IllegalStateException(message);
            default -> new IllegalArgumentException(message);
        };
    }

    /** A call that stores a new object at `out`. */
    interface Constructor {
        int run(MemorySegment out, MemorySegment error);
    }

    /** Return a new object, which is freed when `owner` closes. */
    static MemorySegment create(Arena owner, MethodHandle free, Constructor constructor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(POINTER);
            check(error -> constructor.run(out, error));
            return out.get(POINTER, 0).reinterpret(owner, pointer -> call(free, pointer));
        }
    }

    private static void set(MemorySegment list, String name, MemorySegment value) {
        list.set(POINTER, ARRAY_LIST.byteOffset(MemoryLayout.PathElement.groupElement(name)), value);
    }

    private static void set(MemorySegment list, String name, long value) {
        list.set(LONG, ARRAY_LIST.byteOffset(MemoryLayout.PathElement.groupElement(name)), value);
    }

    private static MemorySegment segmentsIn(Arena arena, RankedList l) {
        MemorySegment out = arena.allocate(SEGMENT_VALUE, l.segments().size());
        long at = 0;
        for (var segment : l.segments().entrySet()) {
            out.setAtIndex(POINTER, at++, arena.allocateFrom(segment.getKey()));
            out.setAtIndex(POINTER, at++, arena.allocateFrom(segment.getValue()));
        }
        return out;
    }

    private static MemorySegment textsIn(Arena arena, List<String> texts) {
        MemorySegment out = arena.allocate(POINTER, texts.size());
        for (int i = 0; i < texts.size(); i++)
            out.setAtIndex(POINTER, i, textIn(arena, texts.get(i)));
        return out;
    }

    /** Return a struct ek_array_list, whose features are at `features`. */
    static MemorySegment listIn(Arena arena, RankedList l, MemorySegment features) {
        MemorySegment list = arena.allocate(ARRAY_LIST);
        set(list, "id", textIn(arena, l.id()));
        set(list, "time_ms", l.timeMs());
        set(list, "segment", segmentsIn(arena, l));
        set(list, "segments", l.segments().size());
        set(list, "query_features", arena.allocateFrom(FLOAT, l.queryFeatures()));
        set(list, "query_count", l.queryFeatures().length);
        set(list, "item_id", textsIn(arena, l.itemIds()));
        set(list, "features", features);
        set(list, "items", l.itemIds().size());
        set(list, "feature_count", l.featureCount());
        set(list, "item_stride", l.featureCount());
        set(list, "feature_stride", 1);
        set(list, "scores", l.scores() == null ? MemorySegment.NULL : arena.allocateFrom(DOUBLE, l.scores()));
        return list;
    }
}
