import base64
import sys

from verify_signature import verify_signature


def decode(text):
    return base64.b64decode(text)


for wrong in (None, 5, b"whsec_1", [None], [b"whsec_1"], {"whsec_1": 1}):
    try:
        verify_signature("t=1,v1=2", b"", wrong)
        raise AssertionError(f"took {wrong!r} as secrets")
    except TypeError as error:
        assert str(error) == "secrets must be a str, or a list of str"

for line in sys.stdin:
    header, body, secrets, now = line.rstrip("\n").split("\t")
    header = None if header == "-" else decode(header).decode()
    secrets = [] if secrets == "-" else [decode(secret).decode() for secret in secrets.split(",")]
    accepted = verify_signature(header, decode(body), secrets, now=int(now))
    if len(secrets) == 1:
        assert verify_signature(header, decode(body), secrets[0], now=int(now)) == accepted
    print("accepted" if accepted else "refused")
