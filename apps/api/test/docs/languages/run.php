<?php

require 'verify_signature.php';

while (($line = fgets(STDIN)) !== false) {
    [$header, $body, $secrets, $now] = explode("\t", rtrim($line, "\n"));
    $header = $header === '-' ? null : base64_decode($header);
    $secrets = $secrets === '-' ? [] : array_map('base64_decode', explode(',', $secrets));
    $verify = fn ($held) => verify_signature($header, base64_decode($body), $held, now: (int) $now);
    $accepted = $verify($secrets);
    if (count($secrets) === 1 && $verify($secrets[0]) !== $accepted) throw new Exception('one secret is not a list of one');
    echo $accepted ? 'accepted' : 'refused', "\n";
}
