"""nginx in front of the collection tool, as Debian's package ships it: its proxy_params, buffering and limits."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import httpx

from collect_support import free_port

# As /etc/nginx/proxy_params of the package, where that is not installed. `$host` leaves the port out.
_PARAMS = """
proxy_set_header Host $host;
proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
proxy_set_header X-Forwarded-Proto $scheme;
"""
_CONFIG = """
{user}
worker_processes auto;
pid {place}/pid;
error_log {place}/error.log;
daemon off;
events {{ worker_connections 768; }}
http {{
    sendfile on;
    tcp_nopush on;
    gzip on;
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{
        listen {port};
        location / {{
            proxy_pass http://127.0.0.1:{behind};
            include {params};
            {line}
        }}
    }}
}}
"""


class Nginx:
    """One nginx before the port `behind`; `line` are directives that make the line to the browser slower."""

    def __init__(self, place: Path, behind: int, port: int | None = None, line: str = "") -> None:
        place.mkdir(parents=True)
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        params = Path("/etc/nginx/proxy_params")
        if not params.is_file():
            params = place / "proxy_params"
            params.write_text(_PARAMS)
        # Who may write where the tests do: what is faster than the line waits in files.
        user = "user root;" if os.geteuid() == 0 else ""
        config = place / "nginx.conf"
        config.write_text(
            _CONFIG.format(place=place, port=self.port, behind=behind, params=params, line=line, user=user)
        )
        program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/bin")
        assert program, "nginx is missing; tools/install-system-packages installs it"
        words = [program, "-p", str(place), "-e", str(place / "error.log"), "-c", str(config)]
        self.process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        self._wait(place)

    def _wait(self, place: Path) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                httpx.get(self.url)
            except httpx.TransportError:
                assert self.process.poll() is None, (place / "error.log").read_text()
                time.sleep(0.02)
            else:
                return
        raise TimeoutError((place / "error.log").read_text())

    def __enter__(self) -> Nginx:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)
