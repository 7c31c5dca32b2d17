/** Why a cursor was refused; the set only grows within a major version. */
type CursorErrorCode = "malformed" | "unsupported_version" | "not_authentic" | "invalid_position" | "position_too_large" | "asynchronous_schema";
/** A cursor cannot be read or made. It holds neither the cursor nor the position. */
declare class CursorError extends Error {
    readonly name: string;
    readonly code: CursorErrorCode;
    constructor(code: CursorErrorCode, options?: {
        readonly cause?: unknown;
    });
}

/** One of several keys. */
interface CursorKey {
    /** The secret key, at least 32 bytes; a string stands for its UTF-8 bytes. */
    readonly key: Uint8Array | string;
    /**
     * A whole number from 0 to 255 that this key's cursors carry, so that only the keys of that id are tried for them.
     *
     * Without an id, the key makes the same cursors as a single key, and is tried for every cursor.
     */
    readonly id?: number | undefined;
}
/** Keys that were checked and prepared once, for any number of codecs. */
interface CursorKeyRing {
    /** For `cursorCodec` alone. */
    readonly "~keys": readonly [PreparedKey, ...ReadonlyArray<PreparedKey>];
}
/** A key that authenticates payloads. */
interface PreparedKey {
    readonly id: number | undefined;
    readonly authenticate: (context: string, payload: Uint8Array) => Uint8Array;
}
/**
 * Prepares several keys for `cursorCodec`: the first makes cursors, and the cursors of all are read.
 *
 * Throws `RangeError` without any key, on a key of fewer than 32 bytes, and on an id that is not a byte.
 */
declare function cursorKeyRing(keys: ReadonlyArray<CursorKey>): CursorKeyRing;

/** What a codec is made of. */
interface CursorCodecOptions<Position> {
    /** Types and checks a position, synchronously; any Standard Schema v1 validator whose output is its own input again. */
    readonly schema: StandardSchemaV1<Position>;
    /** The secret key, at least 32 bytes; a string stands for its UTF-8 bytes. Or several keys: the first encodes, and all decode. */
    readonly key: Uint8Array | string | CursorKeyRing;
    /** What a cursor belongs to, such as endpoint, caller and filters; not empty. It is authenticated, not carried. */
    readonly scope: string;
}
/** Turns positions into cursors and back. */
interface CursorCodec<Position> {
    /**
     * Encodes a position: equal positions give equal texts, of URL-safe characters.
     *
     * Only what the schema keeps is carried. Throws `CursorError` `invalid_position` when the schema refuses the position or its
     * output is not plain JSON, `position_too_large` when the text would pass 2,048 characters, `asynchronous_schema`.
     */
    readonly encode: (position: Position) => string;
    /**
     * Decodes a cursor that this codec made, or another with a key of the same ring, the same scope and schema.
     *
     * Throws `CursorError` and nothing else, on any input: `malformed`, `unsupported_version`, `not_authentic`, and
     * `invalid_position` when the schema refuses an authentic position.
     */
    readonly decode: (cursor: string) => Position;
}
/**
 * Creates a codec for cursors of one kind and one scope; cheap enough to do for every request.
 *
 * A cursor is base64url of a version byte, the key's id if it has one, an HMAC-SHA-256 and the position as JSON: protected from
 * change, not from reading. Throws `RangeError` on a key of fewer than 32 bytes, and `TypeError` without a scope.
 */
declare function cursorCodec<Position>({ schema, key, scope }: CursorCodecOptions<Position>): CursorCodec<Position>;
/** The part of a Standard Schema v1 validator that is used here. Source: https://standardschema.dev */
interface StandardSchemaV1<Input = unknown, Output = Input> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
        readonly types?: {
            readonly input: Input;
            readonly output: Output;
        } | undefined;
    };
}
/** The result of a Standard Schema validator: a value, or issues. */
type StandardResult<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: ReadonlyArray<{
        readonly message: string;
    }>;
};

export { CursorError, cursorCodec, cursorKeyRing };
export type { CursorCodec, CursorCodecOptions, CursorErrorCode, CursorKey, CursorKeyRing, PreparedKey, StandardResult, StandardSchemaV1 };
