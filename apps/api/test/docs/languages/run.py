import base64
import sys

from verify_signature import verify_signature


def decode(text):
    return base64.b64decode(text)


for line in sys.stdin:
    header, body, secrets, now = line.rstrip("\n").split("\t")
    accepted = verify_signature(
        None if header == "-" else decode(header).decode(),
        decode(body),
        [] if secrets == "-" else [decode(secret).decode() for secret in secrets.split(",")],
        now=int(now),
    )
    print("accepted" if accepted else "refused")
