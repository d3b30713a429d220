"""libevenkeel over ctypes: a guard that a case updates list by list, saves, loads, merges."""
import ctypes

RECORD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
P, S, I, REF = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.byref


class Refused(Exception):
    """The library rejected it without effect; contains the reason."""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("ek_error_message", "ek_guard_action", "ek_context_action", "ek_restore_result_name"):
            getattr(self.c, name).restype = S
        for name in ("ek_error_new", "ek_guard_score", "ek_context_score"):
            getattr(self.c, name).restype = P
        for name in ("ek_guard_plan_version", "ek_guard_list_count", "ek_context_plan_version", "ek_state_list_count"):
            getattr(self.c, name).restype = ctypes.c_uint64
        self.error = P(self.c.ek_error_new())

    def call(self, name, *arguments):
        if getattr(self.c, name)(*arguments, self.error):
            raise Refused(self.c.ek_error_message(self.error).decode())

    def assets(self, *paths):
        out = P()
        self.call("ek_assets_load", REF(out), *[p and S(p.encode()) for p in paths])
        return out

    def assets_free(self, assets):
        self.c.ek_assets_free(assets)


class Guard:
    """A guard of the library. `observe` returns the output bytes (None: forwarded unchanged), the reason for None,
    the action, and the plan version."""

    def __init__(self, library, assets):
        self.lib, self.assets, self.g, self.context = library, assets, P(), None
        library.call("ek_guard_new", REF(self.g), assets)

    def free(self):
        self.lib.c.ek_guard_free(self.g)
        self.no_context()
        self.g = P()

    def no_context(self):
        if self.context:
            self.lib.c.ek_context_free(self.context)
        self.context = None

    def _scored(self, of, handle):
        size = ctypes.c_size_t()
        found = getattr(self.lib.c, f"ek_{of}_score")(handle, REF(size), self.lib.error)
        why = "" if found else self.lib.c.ek_error_message(self.lib.error).decode()
        return (ctypes.string_at(found, size.value) if found else None, why,
                getattr(self.lib.c, f"ek_{of}_action")(handle), getattr(self.lib.c, f"ek_{of}_plan_version")(handle))

    def observe(self, message, now_ms):
        held = ctypes.create_string_buffer(message, len(message))
        self.lib.call("ek_guard_observe", self.g, held, ctypes.c_size_t(len(message)), I(now_ms))
        return self._scored("guard", self.g)

    def take(self, message, now_ms):
        """Same as observe, with a separate context that is peeked first."""
        if not self.context:
            self.context = P()
            self.lib.call("ek_context_new", REF(self.context), self.assets)
        held = ctypes.create_string_buffer(message, len(message))
        self.lib.call("ek_context_decode", self.context, held, ctypes.c_size_t(len(message)))
        self.lib.call("ek_guard_update", self.g, self.context, I(now_ms))
        return self._scored("context", self.context)

    def look(self, message):
        """Decode a message and return its plan, without an update."""
        context, held = P(), ctypes.create_string_buffer(message, len(message))
        self.lib.call("ek_context_new", REF(context), self.assets)
        try:
            self.lib.call("ek_context_decode", context, held, ctypes.c_size_t(len(message)))
            self.lib.call("ek_guard_peek", self.g, context)
            return self._scored("context", context)
        finally:
            self.lib.c.ek_context_free(context)

    def tick(self, now_ms):
        self.lib.call("ek_guard_advance", self.g, I(now_ms))

    def say(self, what, *words):
        """Send accept, revert, pin, unpin, pause or resume; strings may be None. Return the error, or None."""
        arguments = [w if not isinstance(w, str) else S(w.encode()) for w in words]
        try:
            self.lib.call("ek_guard_" + what, self.g, *arguments)
        except Refused as refused:
            return str(refused)
        return None

    def events(self):
        found, text = [], S()
        while self.lib.c.ek_guard_next_event(self.g, REF(text)) > 0:
            found.append(text.value.decode())
        return found

    def save(self, whole, kept, note=b""):
        """Write an incremental checkpoint into the dictionary `kept`."""
        def put(_, key, data, size):
            if data:
                kept[key] = ctypes.string_at(data, size)
            else:
                kept.pop(key, None)
            return 0
        self.lib.call("ek_guard_save", self.g, int(whole), note, ctypes.c_size_t(len(note)), RECORD(put), None)

    def load(self, kept, order, assets=None):
        """Continue as another guard, from the records in the caller's order, the header last. Return the fit."""
        state, fit, assets = P(), ctypes.c_int(), assets or self.assets
        self.lib.call("ek_state_new", REF(state))
        head = [k for k in kept if k == b"head"]
        for key in [k for k in order if k != b"head"] + head:
            self.lib.call("ek_state_add", state, S(key), kept[key], ctypes.c_size_t(len(kept[key])))
        self.free()
        self.g, self.assets = P(), assets
        self.lib.call("ek_guard_load", REF(self.g), assets, state, REF(fit))
        self.lib.c.ek_state_free(state)
        return self.lib.c.ek_restore_result_name(fit).decode()

    def turn(self, assets):
        """Switch to equal assets. Return the fit."""
        fit = ctypes.c_int()
        self.lib.call("ek_guard_set_assets", self.g, assets, REF(fit))
        self.assets = assets
        self.no_context()
        return self.lib.c.ek_restore_result_name(fit).decode()

    def merge(self, other):
        self.lib.call("ek_guard_merge", self.g, other.g)
