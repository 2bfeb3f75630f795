"""The Containerfile and compose.yaml by what they name: no container tool is needed."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from assistant.server.api.routes import _build_api
from assistant.server.service import Service
from assistant.settings import Settings

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in TEXT.replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]
APP = COMPOSE["services"]["app-1"]


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def test_it_has_only_known_instructions_and_two_stages() -> None:
    known = "FROM RUN ARG WORKDIR COPY ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD".split()
    assert {name for name, _ in INSTRUCTIONS} <= set(known)
    assert len(arguments("FROM")) == 2


def test_what_is_copied_exists_and_is_all_that_the_wheel_needs() -> None:
    sources = [each.split()[:-1] for each in arguments("COPY") if "--from" not in each]
    copied = {name for names in sources for name in names}
    assert all((ROOT / name).exists() for name in copied)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert {*wheel["packages"], *wheel["force-include"], "pyproject.toml"} <= copied
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {f"!{name}" for name in copied} <= set(ignored)


def test_it_does_not_run_as_root_and_its_volumes_are_the_users() -> None:
    order = [name for name, _ in INSTRUCTIONS]
    assert arguments("USER") == ["assistant"]
    assert order.index("USER") < order.index("ENTRYPOINT")
    assert arguments("VOLUME") == ['["/data", "/models"]']
    assert "useradd --uid 10001" in TEXT
    assert "chown assistant /models" in TEXT


def test_its_command_is_the_packages_and_serves() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert arguments("ENTRYPOINT") == ['["assistant"]']
    assert "assistant" in scripts
    assert arguments("CMD") == ['["serve"]']


def test_every_variable_is_a_setting() -> None:
    named = set(re.findall(r"ASSISTANT_\w+", TEXT)) | set(APP["environment"])
    known = {f"ASSISTANT_{name.upper()}" for name in Settings.model_fields}
    assert named - {"PGPASSWORD"} <= known


def test_the_kubernetes_example_names_what_exists() -> None:
    readme = (ROOT / "assistant/server/README.md").read_text("utf-8")
    [text] = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    deployment, service, ingress = yaml.safe_load_all(text)
    pod = deployment["spec"]["template"]
    [container] = pod["spec"]["containers"]
    named = {each["name"] for each in container["env"]} - {"PGPASSWORD"}
    assert named <= {f"ASSISTANT_{name.upper()}" for name in Settings.model_fields}
    assert f"--uid {pod['spec']['securityContext']['runAsUser']} " in TEXT
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert set(mounted) == {each["name"] for each in pod["spec"]["volumes"]}
    assert {"/data", "/models"} <= set(mounted.values())
    assert {service["spec"]["ports"][0]["port"], container["ports"][0]["containerPort"]} == {7860}
    assert service["spec"]["selector"] == pod["metadata"]["labels"]
    [rule] = ingress["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == service["metadata"]["name"]
    assert container["startupProbe"]["httpGet"]["path"] == "/readyz"


def test_the_health_check_asks_for_a_route_that_exists(tmp_path: Path) -> None:
    [(path,)] = {tuple(re.findall(r"127\.0\.0\.1:7860(/\w+)", TEXT))}
    client = TestClient(_build_api(Service(Settings(home=tmp_path))))
    assert client.get(path).status_code == 503


@pytest.mark.parametrize("kind", ["volumes", "networks", "secrets"])
def test_the_services_use_what_is_declared(kind: str) -> None:
    used = {
        str(name).partition(":")[0]
        for service in COMPOSE["services"].values()
        for name in service.get(kind, ())
    }
    assert {name for name in used if not name.startswith(("/", "."))} == set(COMPOSE[kind])


def test_services_depend_on_services_and_find_each_other_by_name() -> None:
    services = COMPOSE["services"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
    environment = APP["environment"]
    for name in ("ASSISTANT_MODEL_URL", "ASSISTANT_CHROMA", "ASSISTANT_DATABASE"):
        assert re.split(r"[/@:]+", environment[name])[1 + ("@" in environment[name])] in services
    proxied = re.findall(r"([\w-]+):7860", COMPOSE["configs"]["caddyfile"]["content"])
    assert proxied == [name for name in services if name.startswith("app-")]
    subnet = COMPOSE["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    assert environment["ASSISTANT_PROXIES"] == subnet
