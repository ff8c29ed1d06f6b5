# SPDX-License-Identifier: MIT
"""What vyre raises. Every error carries what the library knows of it: `status` ("binding"), `code`
("P030", or ""), `message`, `fix` (what to do), and `file`, `line`, `column`, `excerpt` where there is a
place in a source."""
import builtins

from . import _vyre


class Error(Exception):
    """Base of all errors of vyre."""

    status = ""

    def __init__(self, message, *, status=None, code="", file="", line=0, column=0, excerpt=""):
        super().__init__(message)
        what, mark, fix = message.partition("Fix: ")
        self.message = what.rstrip()
        self.fix = fix if mark else ""
        self.status = status or self.status
        self.code, self.file, self.line, self.column, self.excerpt = code, file, line, column, excerpt

    def __str__(self):
        text = self.message + (f" Fix: {self.fix}" if self.fix else "")
        if self.code:
            text = f"{self.code} {text}"
        if self.line:
            text = f"{self.file or '<source>'}:{self.line}:{self.column}: {text}"
        return text + ("\n" + self.excerpt.rstrip("\n") if self.excerpt else "")

    def __reduce__(self):
        return (_rebuild, (type(self), self.args[0], self.status, self.code, self.file, self.line,
                           self.column, self.excerpt))


def _rebuild(kind, message, status, code, file, line, column, excerpt):
    return kind(message, status=status, code=code, file=file, line=line, column=column,
                excerpt=excerpt)


class ArgumentError(Error, TypeError):
    """A call is wrong: an unknown keyword, a closed runtime."""


class SourceError(Error):
    """A source could not be read; `file`, `line`, `column` and `excerpt` say where."""


class VerifyError(SourceError):
    """A program breaks a rule; `code` names it."""


class JitError(SourceError):
    """A Python function has something that a kernel cannot have."""


class BindingError(Error, ValueError):
    """An argument does not fit the kernel."""


class LimitError(Error, ValueError):
    """A stated limit was passed."""


class UnsupportedError(Error):
    """The backend or device lacks what the program needs."""


class BackendError(Error, RuntimeError):
    """A backend or its driver failed."""


class DivergenceError(Error, RuntimeError):
    """A barrier was not reached by the whole workgroup."""


class TimeoutError(Error, builtins.TimeoutError):
    """A time limit passed."""


class FuelError(Error, RuntimeError):
    """The limit of executed operations passed."""


class StoppedError(Error, RuntimeError):
    """The call was ended by cancel() or by a signal."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class StorageError(Error, OSError):
    """A file could not be read or written."""


class VyreWarning(UserWarning):
    """Something went wrong without stopping the work, as a file that cannot be written."""


_BY_STATUS = {
    "argument": ArgumentError, "syntax": SourceError, "verify": VerifyError, "wire": SourceError,
    "limit": LimitError, "binding": BindingError, "unsupported": UnsupportedError,
    "backend": BackendError, "divergence": DivergenceError, "timeout": TimeoutError,
    "fuel": FuelError, "memory": OutOfMemoryError, "io": StorageError, "stopped": StoppedError,
}


def _make(status, code, message, file, line, column, excerpt):
    return _BY_STATUS.get(status, Error)(message, status=status, code=code, file=file, line=line,
                                         column=column, excerpt=excerpt)


_vyre.set_error_maker(_make)
