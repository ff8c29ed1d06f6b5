# SPDX-License-Identifier: MIT
"""A client of `vyre lsp`: asks what editors ask, and compares. See lsp.sh."""
import json
import os
import subprocess
import sys
import tempfile

VYRE = sys.argv[1]

TEXT = """// Grüße 🙂
program shades(n: u32)
include "lib.vyre"
buffer x: f32[] readwrite

fn half(v: f32) -> f32 { return v * 0.5 }

region main grid(n) {
  let i = global_id.x
  var c = f32x3(x[i], 1, 2)
  x[i] = half(c.x) + twice(fma(c.y, c.z, 1))
}
"""
LIB = "// Shared.\nfn twice(x: f32) -> f32 { return 2 * x }\n"


class Server:
    def __init__(self):
        self.process = subprocess.Popen([VYRE, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send_bytes(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def send(self, **message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, "the server has ended"
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        answer = self.receive()
        assert answer["id"] == self.number, answer
        return answer

    def tell(self, method, **params):
        self.send(method=method, params=params)


def expect(what, is_right, shown):
    if not is_right:
        print(f"{what}: {json.dumps(shown)}")
        sys.exit(1)


def position(text, word, nth=0, shift=0):
    """Of a word, in lines and UTF-16 units."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(word, at + 1)
    before = text[:at]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2 + shift}


folder = tempfile.mkdtemp(prefix="a folder ")
with open(os.path.join(folder, "lib.vyre"), "w", encoding="utf-8") as f:
    f.write(LIB)
URI = "file://" + os.path.join(folder, "shades.vyre").replace(" ", "%20")
DOCUMENT = {"uri": URI}

s = Server()
early = s.ask("textDocument/hover", textDocument=DOCUMENT, position={"line": 0, "character": 0})
expect("asked before initialize", early["error"]["code"] == -32002, early)
made = s.ask("initialize", capabilities={})
expect("capabilities", made["result"]["capabilities"]["hoverProvider"] is True, made)
s.tell("initialized")


def open_text(text, uri=URI):
    s.tell("textDocument/didOpen", textDocument={"uri": uri, "languageId": "vyre", "version": 1, "text": text})
    note = s.receive()
    expect("diagnostics", note["method"] == "textDocument/publishDiagnostics", note)
    return note["params"]["diagnostics"]


def change(text):
    s.tell("textDocument/didChange", textDocument=DOCUMENT, contentChanges=[{"text": text}])
    return s.receive()["params"]["diagnostics"]


expect("a right text", open_text(TEXT) == [], None)

wrong = TEXT.replace("let i", "let j").replace("return v *", "return w *").replace("// Gr", "; $ // Gr")
wrong = TEXT.replace("half(c.x)", "hlaf(c.x)").replace("let i = global_id.x", "let i = missing // 🙂")
found = change(wrong)
expect("every mistake", [d["code"] for d in found] == ["P030"], found)
wrong = TEXT.replace("half(c.x)", "hlaf(c.x)").replace("v * 0.5", "w")
found = change(wrong)
expect("every mistake", sorted(d["code"] for d in found) == ["P030", "P034"], found)
first = next(d for d in found if d["code"] == "P034")
expect("its place", first["range"]["start"] == position(wrong, "hlaf"), first)
expect("its advice", "did you mean `half`" in first["message"], first)
expect("mended", change(TEXT) == [], None)


def hover(word, nth=0, shift=0):
    got = s.ask("textDocument/hover", textDocument=DOCUMENT, position=position(TEXT, word, nth, shift))["result"]
    return got and got["contents"]["value"]


expect("hover of a let", "let i: u32" in hover("i] = half"), hover("i] = half"))
expect("hover of a vector", "vector c: f32x3" in hover("c = f32x3"), hover("c = f32x3"))
expect("hover of a parameter", "parameter n: u32" in hover("n) {"), hover("n) {"))
expect("hover of a buffer", "buffer x: f32[]" in hover("x[i] = "), None)
expect("hover of a function", "fn half -> f32" in hover("half(c"), None)
expect("hover of an operation", "`fma`" in hover("fma"), hover("fma"))
expect("hover of nothing", hover("Gr") is None, hover("Gr"))


def definition(word, nth=0):
    return s.ask("textDocument/definition", textDocument=DOCUMENT, position=position(TEXT, word, nth))["result"]


there = definition("half(c")
expect("definition", there["uri"] == URI and there["range"]["start"] == position(TEXT, "half"), there)
there = definition("i] = half")
expect("definition of a let", there["range"]["start"] == position(TEXT, "i = global"), there)
there = definition("twice(")
expect("definition in another file", there["uri"].endswith("lib.vyre"), there)
expect("its place there", there["range"]["start"] == position(LIB, "twice"), there)

symbols = s.ask("textDocument/documentSymbol", textDocument=DOCUMENT)["result"]
names = [x["name"] for x in symbols]
expect("symbols", names == ["shades", "n", "x", "half", "main"], names)

expect("laid out", s.ask("textDocument/formatting", textDocument=DOCUMENT, options={})["result"] == [], None)
change(TEXT.replace("  let i = global_id.x", "let   i=global_id.x"))
edits = s.ask("textDocument/formatting", textDocument=DOCUMENT, options={})["result"]
expect("layout", len(edits) == 1 and edits[0]["newText"] == TEXT, edits)

unknown = s.ask("textDocument/dance", textDocument=DOCUMENT)
expect("unknown method", unknown["error"]["code"] == -32601, unknown)
s.send_bytes(b"{not json")
expect("no JSON", s.receive()["error"]["code"] == -32700, None)
s.send(method="textDocument/didChange")
s.send(method="textDocument/didOpen", params={"textDocument": 7})
nowhere = s.ask("textDocument/hover", textDocument={"uri": "file:///nowhere"}, position={"line": -3, "character": 1e9})
expect("a text that is not open", nowhere["result"] is None, nowhere)
far = s.ask("textDocument/hover", textDocument=DOCUMENT, position={"line": 10**9, "character": 10**9})
expect("a place that is not there", far["result"] is None, far)

s.tell("textDocument/didClose", textDocument=DOCUMENT)
expect("closed", s.receive()["params"]["diagnostics"] == [], None)
expect("shut down", s.ask("shutdown")["result"] is None, None)
s.tell("exit")
expect("exit status", s.process.wait(10) == 0, s.process.returncode)

killed = Server()
killed.process.stdin.close()
expect("an end without shutdown", killed.process.wait(10) == 1, None)
