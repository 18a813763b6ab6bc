"""The system under test: an HTTP endpoint that takes a question as JSON and gives an answer as JSON."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Japan": "Tokyo"}


def answer(question: str) -> str:
    """Stands for your application."""
    for country, capital in CAPITALS.items():
        if country in question:
            return f"The capital of {country} is {capital}."
    return "I do not know."


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
        body = json.dumps({"answer": answer(question)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", 8765), Handler).serve_forever()
