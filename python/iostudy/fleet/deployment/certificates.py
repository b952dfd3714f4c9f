"""Certificates of one fleet run: a private authority signs a certificate for each process.

The authority's key is never written. Without it nobody can add a member to the fleet later.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_BEFORE = datetime.timedelta(days=1)
"""The clocks of nodes may be behind by this much."""
_VALID = datetime.timedelta(days=90)
"""The longest study."""


@dataclass(frozen=True)
class Identity:
    """The certificate and key of a process, and the authority that it trusts, as PEM."""

    authority: str
    certificate: str
    key: str


class Authority:
    """A private certificate authority for one fleet run."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _distinguished(f"iostudy fleet {name}")
        builder = _builder(self._name, self._name, self._key.public_key())
        extension = x509.BasicConstraints(ca=True, path_length=0)
        self._certificate = (
            builder.add_extension(extension, critical=True)
            .add_extension(_key_usage(sign_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def issue(self, name: str) -> Identity:
        """An identity for both ends of connections: workers listen and connect."""
        key = ec.generate_private_key(ec.SECP256R1())
        ends = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        certificate = (
            _builder(_distinguished(name), self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(sign_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(ends), critical=False)
            .add_extension(_issued_by(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Identity(_to_text(self._certificate), _to_text(certificate), _key_text(key))


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _distinguished(name: str) -> x509.Name:
    most = 64  # characters of a common name: RFC 5280, ub-common-name
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:most])])


def _issued_by(key: ec.EllipticCurvePublicKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key)


def _key_usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _to_text(certificate: x509.Certificate) -> str:
    return str(certificate.public_bytes(Encoding.PEM), "ascii")


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return str(content, "ascii")
