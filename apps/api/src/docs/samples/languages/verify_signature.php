<?php

/** Reports whether the raw body was signed with one of the secrets, within the tolerance in seconds. */
function verify_signature(
    ?string $header,
    string $rawBody,
    string|array $secrets,
    int $tolerance = 300,
    ?int $now = null,
): bool {
    // 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
    $items = preg_split('/, */', $header ?? '');
    if (strlen($header ?? '') > 4096 || count($items) > 32) return false;
    $times = [];
    $signatures = [];
    foreach ($items as $item) {
        if (!preg_match('/\A[^= ]+=[^ ]*\z/', $item)) return false;
        [$name, $value] = explode('=', $item, 2);
        if ($name === 't') $times[] = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (count($times) !== 1 || !preg_match('/\A(0|[1-9][0-9]{0,14})\z/', $times[0])) return false;
    foreach ($signatures as $signature) {
        if (!preg_match('/\A[0-9a-f]{64}\z/', $signature)) return false;
    }

    // 2. Refuse what is older than the tolerance, or further ahead.
    if (abs(($now ?? time()) - (int) $times[0]) > $tolerance) return false;

    // 3. Sign the same bytes with each secret: the time, a dot, the raw body.
    // 4. Compare in constant time; one match is enough.
    foreach ((array) $secrets as $secret) {
        $expected = hash_hmac('sha256', $times[0] . '.' . $rawBody, $secret);
        foreach ($signatures as $signature) {
            if ($secret !== '' && hash_equals($expected, $signature)) return true;
        }
    }
    return false;
}
