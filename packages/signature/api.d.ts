// @outreach/signature
/**
 * Checks the secrets, for example when a process starts.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` unless they are an array of strings.
 */
declare function assertSecrets(secrets: readonly string[]): void;

/** Allowed difference between a timestamp and `now`, in seconds. */
interface Tolerance {
    /** Maximum age of a signature. Default 300. */
    readonly past?: number | undefined;
    /** How far the signer's clock may be ahead. Default 300. */
    readonly future?: number | undefined;
}
/** Options of `verify`. */
interface VerifyOptions {
    /** Current Unix time in seconds, fractions allowed. For a queued request: the time of its receipt. */
    readonly now: number;
    /** Up to 3,600 seconds for both directions or for each. The limit itself is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
}
/** Result of a successful verification. */
interface VerifiedSignature {
    /** Time of signing, in Unix seconds. */
    readonly timestamp: number;
    /** Index of the first given secret that matched. */
    readonly secretIndex: number;
    /** Index of the first `v1` entry that matched that secret, counting only `v1` entries. */
    readonly entryIndex: number;
}
/** Returns the tolerance for both directions, for example when a process starts. Throws `RangeError` unless each is 0 to 3,600 seconds. */
declare function readTolerance(tolerance?: number | Tolerance): {
    readonly past: number;
    readonly future: number;
};
/** Checks the current time, for example when a process starts. Throws `RangeError` unless it is in Unix seconds (not milliseconds). */
declare function assertNow(now: number): void;

/** Reason for rejecting a signature or its input. Minor versions may add codes, but don't remove any. */
type SignatureErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets";
/** Thrown when a signature can't be created or isn't valid. Contains only a code: never the body, the header or a secret. */
declare class SignatureError extends Error {
    readonly name: string;
    readonly code: SignatureErrorCode;
    constructor(code: SignatureErrorCode);
}

/** Options of `sign`. */
interface SignOptions {
    /** Current Unix time in whole seconds. */
    readonly timestamp: number;
}
/**
 * Signs a body with every secret. Returns the value of the `X-Signature` header.
 *
 * Strings are signed as UTF-8. Rejects with `SignatureError` (`malformed_body`, `no_secrets`, `empty_secret`,
 * `too_many_secrets`), and with `RangeError` unless the timestamp is a whole number.
 */
declare function sign(body: Uint8Array | string, secrets: readonly string[], { timestamp }: SignOptions): Promise<string>;

/**
 * Verifies an `X-Signature` header over the raw body. Returns the secret and the entry that matched.
 *
 * Rejects with `SignatureError` for any header or body without a valid signature, and with `RangeError` or
 * `TypeError` only if `now`, `tolerance` or `secrets` are invalid.
 * Source: Outreach Partner API specification, Authentication, 4.
 */
declare function verify(header: string | null | undefined, body: Uint8Array | string, secrets: readonly string[], options: VerifyOptions): Promise<VerifiedSignature>;

export { SignatureError, assertNow, assertSecrets, readTolerance, sign, verify };
export type { SignOptions, SignatureErrorCode, Tolerance, VerifiedSignature, VerifyOptions };

// @outreach/signature/node
/** Allowed difference between a timestamp and `now`, in seconds. */
interface Tolerance {
    /** Maximum age of a signature. Default 300. */
    readonly past?: number | undefined;
    /** How far the signer's clock may be ahead. Default 300. */
    readonly future?: number | undefined;
}
/** Options of `verify`. */
interface VerifyOptions {
    /** Current Unix time in seconds, fractions allowed. For a queued request: the time of its receipt. */
    readonly now: number;
    /** Up to 3,600 seconds for both directions or for each. The limit itself is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
}
/** Result of a successful verification. */
interface VerifiedSignature {
    /** Time of signing, in Unix seconds. */
    readonly timestamp: number;
    /** Index of the first given secret that matched. */
    readonly secretIndex: number;
    /** Index of the first `v1` entry that matched that secret, counting only `v1` entries. */
    readonly entryIndex: number;
}
/** Returns the tolerance for both directions, for example when a process starts. Throws `RangeError` unless each is 0 to 3,600 seconds. */
declare function readTolerance(tolerance?: number | Tolerance): {
    readonly past: number;
    readonly future: number;
};
/** Checks the current time, for example when a process starts. Throws `RangeError` unless it is in Unix seconds (not milliseconds). */
declare function assertNow(now: number): void;

/** Options of `sign`. */
interface SignOptions {
    /** Current Unix time in whole seconds. */
    readonly timestamp: number;
}

/**
 * Checks the secrets, for example when a process starts.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` unless they are an array of strings.
 */
declare function assertSecrets(secrets: readonly string[]): void;

/** Reason for rejecting a signature or its input. Minor versions may add codes, but don't remove any. */
type SignatureErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets";
/** Thrown when a signature can't be created or isn't valid. Contains only a code: never the body, the header or a secret. */
declare class SignatureError extends Error {
    readonly name: string;
    readonly code: SignatureErrorCode;
    constructor(code: SignatureErrorCode);
}

/** Synchronous `sign` of the main entry. Throws where that one rejects. */
declare function sign(body: Uint8Array | string, secrets: readonly string[], { timestamp }: SignOptions): string;
/** Synchronous `verify` of the main entry. Throws where that one rejects. */
declare function verify(header: string | null | undefined, body: Uint8Array | string, secrets: readonly string[], options: VerifyOptions): VerifiedSignature;

export { SignatureError, assertNow, assertSecrets, readTolerance, sign, verify };
export type { SignOptions, SignatureErrorCode, Tolerance, VerifiedSignature, VerifyOptions };
