"""A real server on loopback that speaks the chat-completions protocol, with a script.

`tests/conftest.py` starts one as the fixture `chat_server`.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TRUNCATED = b'{"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [{"ind'
"""A body that breaks off; its Content-Length is its own."""


class ChatServer(ThreadingHTTPServer):
    """Answers every request by `say` or, where it is set, by `answer`.

    Attributes:
        seen: Request bodies, in order of arrival.
        keys: Their Authorization headers.
        delivered: Bodies of the requests whose answer was written to the client, in that order.
        say: The user's message to the reply's text, or to (status, body).
        answer: The whole request body to the same, for scripts that look at more than the
            message; None where `say` decides.
        model: What it calls its model; None for what was asked for.
        finish: Why a reply ends.
        fingerprint: What it calls its backend; None where it says nothing.
        refusal: What stands beside a text that is None; None where there is no such field.
        counted: Whether it tells the tokens: one for each word of the messages and of the reply.
        headers: Sent with every answer, such as `Retry-After`.
        most: Requests that were under way at once.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen, self.keys, self.delivered = [], [], []
        self.say = lambda _: "supports"
        self.answer = None
        self.model = self.fingerprint = self.refusal = None
        self.finish = "stop"
        self.counted = True
        self.headers = {}
        self.busy = self.most = 0
        self.lock = threading.Lock()

    @property
    def host(self):
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self):
        return f"http://{self.host}/v1"

    def completion(self, body, text):
        message = {"role": "assistant", "content": text}
        if self.refusal is not None:
            message["refusal"] = self.refusal
        reply = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": self.model or body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
        }
        if self.fingerprint is not None:
            reply["system_fingerprint"] = self.fingerprint
        if self.counted:
            asked = sum(len(said["content"].split()) for said in body["messages"])
            said = len(text.split()) if isinstance(text, str) else 0
            reply["usage"] = {
                "prompt_tokens": asked,
                "completion_tokens": said,
                "total_tokens": asked + said,
            }
        return reply

    def handle_error(self, request, client_address):
        """A client that is killed or that no longer waits is part of the script."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.seen.append(body)
            server.keys.append(self.headers["Authorization"])
            server.busy += 1
            server.most = max(server.most, server.busy)
        try:
            assert self.path == "/v1/chat/completions"
            if server.answer is not None:
                said = server.answer(body)
            else:
                said = server.say(body["messages"][-1]["content"])
        finally:
            with server.lock:
                server.busy -= 1
        status, reply = said if isinstance(said, tuple) else (200, server.completion(body, said))
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        with server.lock:
            server.delivered.append(body)

    def log_message(self, *_):
        pass
