"""Known vulnerabilities and the licences of everything that pyproject.toml asks for.

Ends with 0 where all was looked up and nothing is known, with 1 where something is, and with 2
where it could not be looked up. A service that knows nothing of a release that is known to be
vulnerable knows nothing of others either: its silence is not taken for an answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent.parent
# CVE-2024-22195 and others.
KNOWN_VULNERABLE = "jinja2==3.1.2"
SERVICES = ("pypi", "osv", "esms")


def main() -> int:
    wanted = resolve(".[dev]")
    show(f"{len(wanted)} packages, the newest that pip would install for manyview[dev]\n")
    show_licences(wanted)
    reasons = []
    for service in SERVICES:
        found, reason = ask(service, [KNOWN_VULNERABLE])
        if any(package.get("vulns") for package in found):
            return judge(service, [f"{p['name']}=={p['version']}" for p in wanted])
        reasons.append(f"{service}: {reason or f'knows nothing of {KNOWN_VULNERABLE}'}")
    show("\nNOT AUDITED: no vulnerability service answered\n")
    for reason in reasons:
        show(f"  {reason}\n")
    return 2


def judge(service: str, pinned: list[str]) -> int:
    found, reason = ask(service, pinned)
    missing = {line.partition("==")[0].lower() for line in pinned}
    missing -= {package["name"].lower() for package in found if "vulns" in package}
    vulnerable = [package for package in found if package.get("vulns")]
    for package in vulnerable:
        for vuln in package["vulns"]:
            names = ", ".join([vuln["id"], *vuln.get("aliases", [])])
            fixed = ", ".join(vuln.get("fix_versions", [])) or "no release yet"
            show(f"VULNERABLE {package['name']} {package['version']}: {names}; fixed in {fixed}\n")
    if missing:
        show(f"NOT AUDITED by {service}: {', '.join(sorted(missing))} {reason}\n")
    if vulnerable or missing:
        return 1 if vulnerable else 2
    show(f"\nnothing is known against these {len(pinned)} packages ({service})\n")
    return 0


def ask(service: str, pinned: list[str]) -> tuple[list[dict], str]:
    """What pip-audit says of each, and why it says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pinned.txt").write_text("\n".join(pinned) + "\n")
        command = [
            *(sys.executable, "-m", "pip_audit", "--requirement", f"{folder}/pinned.txt"),
            *("--no-deps", "--disable-pip", "--vulnerability-service", service),
            *("--format", "json", "--progress-spinner", "off", "--cache-dir", f"{folder}/cache"),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        return [], (done.stderr.strip().splitlines() or ["no output"])[-1][:120]
    skipped = {package["skip_reason"] for package in found if "skip_reason" in package}
    return found, "; ".join(sorted(skipped))


def resolve(wanted: str) -> list[dict]:
    """The metadata of what pip would install into an empty environment; nothing is installed."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    command += ["--quiet", "--disable-pip-version-check", "--report", "-", wanted]
    done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
    packages = [item["metadata"] for item in json.loads(done.stdout)["install"]]
    return sorted(
        (package for package in packages if package["name"] != "manyview"),
        key=lambda package: package["name"].lower(),
    )


def show_licences(packages: list[dict]) -> None:
    names = defaultdict(list)
    for package in packages:
        names[licence(package)].append(package["name"])
    for text, members in sorted(names.items()):
        show(f"  {text}: {', '.join(members)}\n")


def licence(package: dict) -> str:
    """The SPDX expression, else what the classifiers say, else the first line of the text."""
    prefix = "License :: OSI Approved :: "
    classified = [c.removeprefix(prefix) for c in package.get("classifier", []) if prefix in c]
    free = (package.get("license") or "").strip().splitlines()
    return package.get("license_expression") or ", ".join(classified) or (free or ["not said"])[0]


def show(text: str) -> None:
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main())
