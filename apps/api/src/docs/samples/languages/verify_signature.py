import hashlib
import hmac
import re
import time


def verify_signature(header, raw_body, secrets, tolerance=300, now=None):
    """Reports whether the bytes of a body were signed with one of the secrets, within the tolerance in seconds."""
    # 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
    header = header or ""
    items = re.split(", *", header)
    t = [item[2:] for item in items if item.startswith("t=")]
    v1 = [item[3:] for item in items if item.startswith("v1=")]
    if len(header) > 4096 or len(items) > 32 or not all(re.fullmatch("[^= ]+=[^ ]*", item) for item in items):
        return False
    if len(t) != 1 or not re.fullmatch("0|[1-9][0-9]{0,14}", t[0]):
        return False
    if not v1 or not all(re.fullmatch("[0-9a-f]{64}", one) for one in v1):
        return False

    # 2. Refuse what is older than the tolerance, or further ahead.
    if abs((time.time() if now is None else now) - int(t[0])) > tolerance:
        return False

    # 3. Sign the same bytes with each secret: the time, a dot, the raw body.
    signed = t[0].encode() + b"." + raw_body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets if secret]

    # 4. Compare all in constant time; one match is enough.
    return any([hmac.compare_digest(one, other) for one in v1 for other in expected])
