"""TCP forwarder between page and instance that can be cut."""
import contextlib
import socket
import threading


class Wire:
    """Forwarder as a context manager. While cut, connections are closed at once."""

    def __init__(self, port):
        self.to, self.cut_off, self.open = port, False, set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.cut()

    def cut(self):
        with self.lock:
            self.cut_off = True
            gone, self.open = self.open, set()
        for end in gone:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self):
        with self.lock:
            self.cut_off = False

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            self._join(near)

    def _join(self, near):
        with self.lock:
            if self.cut_off:
                near.close()
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()
                return
            self.open |= {near, far}
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self.lock:
            self.open -= {one, other}
