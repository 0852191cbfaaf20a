"""Requests to an application without a server: raw paths and headers go in as they are."""

import asyncio
import json

HOST = "127.0.0.1:7777"
TOKEN = "secret-token"


class Reply:
    def __init__(self, messages):
        self.status = messages[0]["status"]
        self.headers = {
            key.decode().lower(): value.decode() for key, value in messages[0]["headers"]
        }
        self.body = b"".join(message.get("body", b"") for message in messages[1:])

    @property
    def json(self):
        return json.loads(self.body)


def ask(app, path, *, body=None, method=None, token=TOKEN, parts=None, query="", **headers):
    """The reply to a request; ``parts`` sends the body in pieces, whatever its length says."""
    sent = [body if isinstance(body, bytes) else json.dumps(body).encode()]
    sent = [b""] if body is None else sent
    sent = sent if parts is None else parts
    method = method or ("GET" if body is None and parts is None else "POST")
    given = {"host": HOST}
    if method == "POST":
        given |= {"origin": f"http://{HOST}", "content-type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    raw = [(k.encode(), v.encode()) for k, v in given.items() if v is not None]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": f"/{token}{path}" if token else path, "raw_path": b"", "root_path": "",
        "query_string": query.encode(), "headers": raw, "scheme": "http",
        "server": ("127.0.0.1", 7777), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    messages, queue = [], list(sent)

    async def receive():
        if not queue:
            return {"type": "http.disconnect"}
        part = queue.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(queue)}

    async def send(message):
        messages.append(message)

    asyncio.run(app(scope, receive, send))
    return Reply(messages)
