// @outreach/signature
/**
 * Checks that there are secrets to sign or verify with, for instance at a process's start.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` when they are no array of strings.
 */
declare function assertSecrets(secrets: readonly string[]): void;

/** How far a timestamp may lie from `now`, in seconds. */
interface Tolerance {
    /** How old a signature may be. Default 300. */
    readonly past?: number | undefined;
    /** How far ahead the signer's clock may run. Default 300. */
    readonly future?: number | undefined;
}
/** What a verifier knows beside its secrets. */
interface VerifyOptions {
    /** The verifier's clock in Unix seconds, fractions allowed. For a queued request: when it was received. */
    readonly now: number;
    /** Up to 3,600 seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
}
/** What matched. */
interface VerifiedSignature {
    /** When it was signed, in Unix seconds. */
    readonly timestamp: number;
    /** Which of the given secrets matched: the index of the first that did. */
    readonly secretIndex: number;
    /** Which `v1` entry of the header matched that secret: the index of the first that did, counting `v1` entries alone. */
    readonly entryIndex: number;
}
/** Returns a tolerance in both directions, for instance at a process's start; throws `RangeError` unless it is 0 to 3,600 seconds. */
declare function readTolerance(tolerance?: number | Tolerance): {
    readonly past: number;
    readonly future: number;
};
/** Checks a clock, for instance at a process's start; throws `RangeError` unless it is Unix seconds, as milliseconds are not. */
declare function assertNow(now: number): void;

/** Why signing or verifying was refused; the set only grows within a major version. */
type SignatureErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets";
/** A signature cannot be made, or is not accepted. It holds a code alone: never the body, the header or a secret. */
declare class SignatureError extends Error {
    readonly name: string;
    readonly code: SignatureErrorCode;
    constructor(code: SignatureErrorCode);
}

/** What a signer adds to the body. */
interface SignOptions {
    /** The signer's clock in whole Unix seconds. */
    readonly timestamp: number;
}
/**
 * Signs a body with every secret, for the `X-Signature` header.
 *
 * A string is signed as its UTF-8 bytes. Rejects with `SignatureError` (`malformed_body`, `no_secrets`, `empty_secret`,
 * `too_many_secrets`), and with `RangeError` on a timestamp that is not a whole number.
 */
declare function sign(body: Uint8Array | string, secrets: readonly string[], { timestamp }: SignOptions): Promise<string>;

/**
 * Verifies an `X-Signature` header over the raw body, and returns which secret and which entry matched.
 *
 * Rejects with `SignatureError` when the signature is not good, whatever the header and the body hold; with `RangeError` or
 * `TypeError` only when `now`, `tolerance` or `secrets` are of the wrong kind.
 * Source: Outreach Partner API specification, Authentication, 4.
 */
declare function verify(header: string | null | undefined, body: Uint8Array | string, secrets: readonly string[], options: VerifyOptions): Promise<VerifiedSignature>;

export { SignatureError, assertNow, assertSecrets, readTolerance, sign, verify };
export type { SignOptions, SignatureErrorCode, Tolerance, VerifiedSignature, VerifyOptions };

// @outreach/signature/node
/** How far a timestamp may lie from `now`, in seconds. */
interface Tolerance {
    /** How old a signature may be. Default 300. */
    readonly past?: number | undefined;
    /** How far ahead the signer's clock may run. Default 300. */
    readonly future?: number | undefined;
}
/** What a verifier knows beside its secrets. */
interface VerifyOptions {
    /** The verifier's clock in Unix seconds, fractions allowed. For a queued request: when it was received. */
    readonly now: number;
    /** Up to 3,600 seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
}
/** What matched. */
interface VerifiedSignature {
    /** When it was signed, in Unix seconds. */
    readonly timestamp: number;
    /** Which of the given secrets matched: the index of the first that did. */
    readonly secretIndex: number;
    /** Which `v1` entry of the header matched that secret: the index of the first that did, counting `v1` entries alone. */
    readonly entryIndex: number;
}
/** Returns a tolerance in both directions, for instance at a process's start; throws `RangeError` unless it is 0 to 3,600 seconds. */
declare function readTolerance(tolerance?: number | Tolerance): {
    readonly past: number;
    readonly future: number;
};
/** Checks a clock, for instance at a process's start; throws `RangeError` unless it is Unix seconds, as milliseconds are not. */
declare function assertNow(now: number): void;

/** What a signer adds to the body. */
interface SignOptions {
    /** The signer's clock in whole Unix seconds. */
    readonly timestamp: number;
}

/**
 * Checks that there are secrets to sign or verify with, for instance at a process's start.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` when they are no array of strings.
 */
declare function assertSecrets(secrets: readonly string[]): void;

/** Why signing or verifying was refused; the set only grows within a major version. */
type SignatureErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets";
/** A signature cannot be made, or is not accepted. It holds a code alone: never the body, the header or a secret. */
declare class SignatureError extends Error {
    readonly name: string;
    readonly code: SignatureErrorCode;
    constructor(code: SignatureErrorCode);
}

/** Signs a body as the main entry's `sign` does, synchronously; throws where that one rejects. */
declare function sign(body: Uint8Array | string, secrets: readonly string[], { timestamp }: SignOptions): string;
/** Verifies a header as the main entry's `verify` does, synchronously; throws where that one rejects. */
declare function verify(header: string | null | undefined, body: Uint8Array | string, secrets: readonly string[], options: VerifyOptions): VerifiedSignature;

export { SignatureError, assertNow, assertSecrets, readTolerance, sign, verify };
export type { SignOptions, SignatureErrorCode, Tolerance, VerifiedSignature, VerifyOptions };
