"""The real nginx before the app."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app_process import Served
from postgres import free_port

README = Path(__file__).parents[1] / "assistant/server/README.md"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
_CONFIGURATION = """
{user}
daemon off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {upstream}
  server {{
    listen 127.0.0.1:{port}{tls};
    {location}
  }}
}}
"""


@contextmanager
def nginx(folder: Path, location: str, upstream: str = "", tls: str = "") -> Iterator[int]:
    """nginx with these parts of a configuration; gives its port. `tls` is "ssl" or nothing."""
    assert NGINX
    port, file = free_port(), folder / "nginx.conf"
    user = "user root;" if os.getuid() == 0 else ""
    values = {"user": user, "folder": folder, "port": port, "tls": f" {tls}"}
    file.write_text(_CONFIGURATION.format(**values, location=location, upstream=upstream))
    process = subprocess.Popen([NGINX, "-e", "stderr", "-c", file])
    try:
        while not listens(port):
            assert process.poll() is None
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def nginx_before(folder: Path, one: Served, two: Served) -> Iterator[str]:
    """nginx before two processes as the server's README sets it up; gives its address."""
    upstream, location, _ = re.findall(r"```nginx\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    upstream = upstream.replace("127.0.0.1:7860", one.host).replace("127.0.0.1:7861", two.host)
    with nginx(folder, location, upstream) as port:
        yield f"http://127.0.0.1:{port}"


def listens(port: int) -> bool:
    """Whether something listens at the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
