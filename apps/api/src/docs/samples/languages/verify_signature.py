import hashlib
import hmac
import re
import time


def verify_signature(header, raw_body, secrets, tolerance=300, now=None):
    """Report whether the bytes of a body were signed with one of the secrets.

    secrets is one secret as a str, or a list of them; tolerance and now are in seconds.
    """
    if isinstance(secrets, str):
        secrets = [secrets]
    if not isinstance(secrets, (list, tuple)) or not all(isinstance(one, str) for one in secrets):
        raise TypeError("secrets must be a str, or a list of str")

    # 1. Take the header apart: one t, and one v1 or more. Other items belong to later schemes.
    header = header or ""
    items = re.split(", *", header)
    if len(header) > 4096 or len(items) > 32:
        return False
    if not all(re.fullmatch("[^= ]+=[^ ]*", item) for item in items):
        return False
    times = [item[2:] for item in items if item.startswith("t=")]
    signatures = [item[3:] for item in items if item.startswith("v1=")]
    if len(times) != 1 or not re.fullmatch("0|[1-9][0-9]{0,14}", times[0]):
        return False
    if not all(re.fullmatch("[0-9a-f]{64}", signature) for signature in signatures):
        return False

    # 2. Refuse what is older than the tolerance, or further ahead.
    if abs((time.time() if now is None else now) - int(times[0])) > tolerance:
        return False

    # 3. Sign the same bytes with each secret: the time, a dot, the raw body.
    signed = times[0].encode() + b"." + raw_body
    expected = [hmac.new(one.encode(), signed, hashlib.sha256).hexdigest() for one in secrets if one]

    # 4. Compare in constant time; one match is enough.
    return any(hmac.compare_digest(one, other) for one in signatures for other in expected)
