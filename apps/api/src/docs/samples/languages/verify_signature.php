<?php

/** Reports whether a raw body was signed with one of the secrets, within the tolerance in seconds. */
function verify_signature(?string $header, string $rawBody, array $secrets, int $tolerance = 300, ?int $now = null): bool
{
    // 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
    $items = preg_split('/, */', $header ?? '');
    if (count($items) > 32 || strlen($header ?? '') > 4096) return false;
    $values = ['t' => [], 'v1' => []];
    $forms = ['t' => '/\A(0|[1-9][0-9]{0,14})\z/', 'v1' => '/\A[0-9a-f]{64}\z/'];
    foreach ($items as $item) {
        if (!preg_match('/\A([^= ]+)=([^ ]*)\z/', $item, $part)) return false;
        if (!preg_match($forms[$part[1]] ?? '//', $part[2])) return false;
        $values[$part[1]][] = $part[2];
    }
    if (count($values['t']) !== 1) return false;

    // 2. Refuse what is older than the tolerance, or further ahead.
    if (abs(($now ?? time()) - (int) $values['t'][0]) > $tolerance) return false;

    // 3. Sign the same bytes with each secret: the time, a dot, the raw body.
    // 4. Compare all in constant time; one match is enough.
    $matched = false;
    foreach (array_filter($secrets, 'strlen') as $secret) {
        $expected = hash_hmac('sha256', $values['t'][0] . '.' . $rawBody, $secret);
        foreach ($values['v1'] as $one) $matched = hash_equals($expected, $one) || $matched;
    }
    return $matched;
}
