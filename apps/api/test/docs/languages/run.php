<?php

require 'verify_signature.php';

while (($line = fgets(STDIN)) !== false) {
    [$header, $body, $secrets, $now] = explode("\t", rtrim($line, "\n"));
    $accepted = verify_signature(
        $header === '-' ? null : base64_decode($header),
        base64_decode($body),
        $secrets === '-' ? [] : array_map('base64_decode', explode(',', $secrets)),
        now: (int) $now,
    );
    echo $accepted ? 'accepted' : 'refused', "\n";
}
