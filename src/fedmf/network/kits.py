"""Kits: a folder for each machine of a federation, with its certificate and its settings.

    [federation]
    name = "hearts"
    sites = ["north", "east", "south"]
    users = ["coordinator"]          who may start and stop runs
    days = 825                       how long certificates are valid

    [server]
    host = "fedmf.example.org"       the name that sites dial
    port = 8443
    hosts = ["10.0.0.7"]             further names and addresses of the same machine
    listen = "0.0.0.0"

`provision` makes an authority and one kit each for the server, every site and every user:

    kit.toml           role, name, where the server is
    ca.pem             the authority's certificate: whom to trust
    certificate.pem    who this is: its common name is role:name
    key.pem            0600; never leaves the machine
    policy.toml        at a site: its limits

The authority's key, in ca/, belongs in a safe place: whoever has it can make certificates.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID as Usage
from cryptography.x509.oid import NameOID

from fedmf.checks import check_integer
from fedmf.errors import FileFormatError, MissingDataError, ParameterError
from fedmf.files import read_toml, write_text
from fedmf.network.identity import check_identity, secret

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PORT, DAYS = 8443, 825
ROLES = ("server", "site", "user")


@dataclass(frozen=True)
class Kit:
    """A machine's kit, read from its folder."""

    folder: Path
    role: str
    name: str
    federation: str
    host: str
    port: int
    listen: str = "127.0.0.1"
    sites: tuple[str, ...] = ()  # at the server: in the order of the sites' numbers
    users: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: str | Path, role: str) -> Kit:
        """Return the kit in a folder, which must be one for this role."""
        place = Path(folder).expanduser() / "kit.toml"
        if not place.is_file():
            raise MissingDataError(f"{place} is missing: `fedmf provision` makes kits")
        try:
            table = tomllib.loads(place.read_text(encoding="utf-8"))
            table |= {name: tuple(table.get(name, ())) for name in ("sites", "users")}
            kit = cls(folder=place.parent, **table)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError) as error:
            raise FileFormatError(f"{place}: not a kit: {error}") from None
        if kit.role != role:
            raise ParameterError(f"{place.parent} is the kit of a {kit.role}, not of a {role}")
        check_identity(kit.folder, kit.identity)
        return kit

    @property
    def identity(self) -> str:
        """The common name of its certificate."""
        return f"{self.role}:{self.name}"

    @property
    def secrets(self) -> tuple[bytes, bytes, bytes]:
        """The authority's certificate, its own key, its own certificate."""
        trusted, key, own = (secret(self.folder, f"{name}.pem")
                             for name in ("ca", "key", "certificate"))  # fmt: skip
        return trusted, key, own


@dataclass(frozen=True)
class Plan:
    """What to provision."""

    name: str
    sites: tuple[str, ...]
    host: str
    users: tuple[str, ...] = ("coordinator",)
    port: int = PORT
    hosts: tuple[str, ...] = ()
    listen: str = field(default="")
    days: int = DAYS

    def __post_init__(self) -> None:
        """Check every name once."""
        if not self.sites:
            raise ParameterError("a federation needs at least one site")
        for name in (self.name, *self.sites, *self.users):
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ParameterError(
                    f"a name is small letters, digits and hyphens, at most 63; got {name!r}"
                )
        everyone = ["server", "ca", *self.sites, *self.users]
        twice = sorted({name for name in everyone if everyone.count(name) > 1})
        if twice:
            raise ParameterError(f"a name stands for one machine, {twice[0]!r} is there twice")
        check_integer("port", self.port, minimum=1, maximum=65535)
        check_integer("days", self.days, minimum=1)

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Return the plan in a TOML file."""
        tables = read_toml(path)
        try:
            federation, server = tables.pop("federation"), tables.pop("server")
            settings: dict[str, Any] = {**federation, **server}
            for key in ("sites", "users", "hosts"):
                settings |= {key: tuple(settings[key])} if key in settings else {}
            plan = cls(**settings)
        except (KeyError, TypeError) as error:
            raise FileFormatError(
                f"{path}: expected [federation] name, sites, users, days and [server] host, port, "
                f"hosts, listen ({error})"
            ) from None
        if tables:
            raise FileFormatError(f"{path}: {next(iter(tables))!r} is none of its two tables")
        return plan

    @property
    def names(self) -> list[str]:
        """The server's names and addresses."""
        return list(dict.fromkeys((self.host, *self.hosts)))

    @property
    def address(self) -> str:
        """Where the server listens: on one machine, nowhere else."""
        return self.listen or ("127.0.0.1" if self.host in LOOPBACK else "0.0.0.0")  # noqa: S104


def provision(plan: Plan, out: Path) -> list[Path]:
    """Make all kits in a new folder; return theirs."""
    if out.exists() and any(out.iterdir()):
        raise ParameterError(f"{out} is not empty: name another --out")
    authority = Authority(plan.name, plan.days)
    (out / "ca").mkdir(parents=True, mode=0o700)
    _write_secret(out / "ca" / "key.pem", authority.secret)
    (out / "ca" / "ca.pem").write_bytes(authority.public)
    entries = [("server", "server", plan.names)]
    entries += [("site", name, []) for name in plan.sites]
    entries += [("user", name, []) for name in plan.users]
    return [_kit(plan, authority, out / name, role, name, hosts) for role, name, hosts in entries]


def _kit(
    plan: Plan, authority: Authority, folder: Path, role: str, name: str, hosts: Sequence[str]
) -> Path:
    import tomli_w

    from fedmf.network.policy import DEFAULT

    folder.mkdir(mode=0o700)
    certificate, key = authority.issue(f"{role}:{name}", hosts, plan.days)
    _write_secret(folder / "key.pem", key)
    (folder / "certificate.pem").write_bytes(certificate)
    (folder / "ca.pem").write_bytes(authority.public)
    table: dict[str, Any] = {"role": role, "name": name, "federation": plan.name}
    table |= {"host": plan.host, "port": plan.port}
    if role == "server":
        table |= {"listen": plan.address, "sites": list(plan.sites), "users": list(plan.users)}
    write_text(folder / "kit.toml", tomli_w.dumps(table))
    if role == "site":
        write_text(folder / "policy.toml", DEFAULT)
    return folder


class Authority:
    """Who vouches for the machines of one federation."""

    def __init__(self, name: str, days: int) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"fedmf:{name}")])
        usage = {"key_cert_sign": True, "crl_sign": True}
        own = self._key.public_key()
        builder = _builder(self._name, self._name, own, own, days).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self._certificate = builder.add_extension(_usage(**usage), critical=True).sign(
            self._key, hashes.SHA256()
        )

    @property
    def public(self) -> bytes:
        """Its certificate."""
        public: bytes = self._certificate.public_bytes(serialization.Encoding.PEM)
        return public

    @property
    def secret(self) -> bytes:
        """Its key."""
        return _pem(self._key)

    def issue(self, name: str, hosts: Sequence[str], days: int) -> tuple[bytes, bytes]:
        """Return a certificate and its key; one with hosts is a server's, another a client's."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        use = [Usage.SERVER_AUTH] if hosts else [Usage.CLIENT_AUTH]
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        builder = (
            _builder(subject, self._name, key.public_key(), self._key.public_key(), days)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage(use), critical=False)
        )
        builder = builder.add_extension(names, critical=False) if hosts else builder
        certificate = builder.sign(self._key, hashes.SHA256())
        public: bytes = certificate.public_bytes(serialization.Encoding.PEM)
        return public, _pem(key)


def _builder(subject: x509.Name, issuer: x509.Name, key: Any, signer: Any, days: int) -> Any:
    """Return what all certificates have; they begin a day ago, since clocks differ.

    While certificates are renewed two authorities of the same name are trusted: the key's
    identifier says which of them signed.
    """
    now = datetime.now(UTC)
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(by, critical=False)
    )


def _usage(**given: bool) -> x509.KeyUsage:
    kinds = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
        "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{kind: given.get(kind, False) for kind in kinds})


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: Any) -> bytes:
    kind, encryption = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    data: bytes = key.private_bytes(serialization.Encoding.PEM, kind, encryption)
    return data


def _write_secret(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read, from its first byte on."""
    path.touch(mode=0o600)
    path.write_bytes(data)
