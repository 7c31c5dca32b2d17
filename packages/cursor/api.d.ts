// @outreach/cursor
/** Why a cursor was refused; the set only grows within a major version. */
type CursorErrorCode = 
/** Not a text that a codec could have made. */
"malformed"
/** Of another version of the format. */
 | "unsupported_version"
/** Altered, or made with another key or for another scope. */
 | "not_authentic"
/** Older than `expiresAfter`, or made by a codec without it. */
 | "expired"
/** The schema refuses the position, or it holds more than JSON, bigints and dates. */
 | "invalid_position"
/** The cursor would be longer than 2,048 characters. */
 | "position_too_large"
/** The schema validates asynchronously, which is not supported. */
 | "asynchronous_schema";
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
    /** How long a cursor is read after it was made: a whole number of seconds, minutes, hours or days. Default: without end. */
    readonly expiresAfter?: `${number}${keyof typeof UNITS}` | undefined;
    /** The clock, in milliseconds since 1970, such as `Date.now`; needed for `expiresAfter` alone. */
    readonly now?: (() => number) | undefined;
}
/** What a duration is written in, in seconds. */
declare const UNITS: {
    readonly s: 1;
    readonly m: 60;
    readonly h: 3600;
    readonly d: 86400;
};
/** Turns positions into cursors and back. */
interface CursorCodec<Position> {
    /**
     * Encodes a position: equal positions give equal texts, of URL-safe characters; a codec that expires cursors adds the second.
     *
     * Only what the schema keeps is carried. Throws `CursorError` `invalid_position` when the schema refuses the position or its
     * output holds more than JSON, bigints and dates, `position_too_large` when the text would pass 2,048 characters, `asynchronous_schema`.
     */
    readonly encode: (position: Position) => string;
    /**
     * Decodes a cursor that this codec made, or another with a key of the same ring, the same scope and schema; null without a cursor.
     *
     * Throws `CursorError` and nothing else, on any input: `malformed`, `unsupported_version`, `not_authentic`, `expired`, and
     * `invalid_position` when the schema refuses an authentic position.
     */
    readonly decode: Decode<Position>;
}
interface Decode<Position> {
    (cursor: string): Position;
    (cursor: string | null | undefined): Position | null;
}
/**
 * Creates a codec for cursors of one kind and one scope; cheap enough to do for every request.
 *
 * A cursor is base64url of a version byte, the key's id if it has one, an HMAC-SHA-256 and the position as JSON: protected from
 * change, not from reading. Throws `RangeError` on a key of fewer than 32 bytes, and `TypeError` without a scope, on another
 * duration, and on a duration without a clock.
 */
declare function cursorCodec<Position>(options: CursorCodecOptions<Position>): CursorCodec<Position>;
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

/** Where a page begins or ends: after a position, or before one, which is a previous page. Without either, at the beginning of the list. */
interface PageFrom<Position> {
    readonly after?: Position | null | undefined;
    /** "end" reads the last page. */
    readonly before?: Position | "end" | null | undefined;
}

/** What a page is made of. */
interface PaginateOptions<Row, Position, Cursor> {
    /** Rows that were read with `limit + 1`, in the order in which they were read. The one too many shows that more follow. */
    readonly rows: ReadonlyArray<Row>;
    /** The most rows of a page, from 1 on. */
    readonly limit: number;
    /** Where a row stands in the list: the values of its key. */
    readonly position: (row: Row) => Position;
    /** Turns positions into cursors. Without it, the cursors of the page are positions. */
    readonly codec?: {
        readonly encode: (position: Position) => Cursor;
    } | undefined;
}
/** A page of a list that is read forwards. */
interface Page<Row, Cursor> {
    readonly data: ReadonlyArray<Row>;
    readonly has_more: boolean;
    /** After which the list goes on; null at its end. */
    readonly next_cursor: Cursor | null;
}
/** A page of a list that is read both ways. */
interface TwoWayPage<Row, Cursor> extends Page<Row, Cursor> {
    /** Before which the list goes back; null at its beginning. */
    readonly previous_cursor: Cursor | null;
}
/**
 * Makes a page of rows that were read with `limit + 1`.
 *
 * With `from`, the same value that `keyset` got, the page has both ends, and the rows of a previous page are turned around. An end
 * where the caller came from has a cursor without a look at the rows there; an empty page has no cursor.
 *
 * Throws `RangeError` on a limit that is not a whole number from 1 on, and what the codec throws.
 */
declare function paginate<Row, Position, Cursor = Position>(options: PaginateOptions<Row, Position, Cursor> & {
    readonly from?: undefined;
}): Page<Row, Cursor>;
declare function paginate<Row, Position, Cursor = Position>(options: PaginateOptions<Row, Position, Cursor> & {
    readonly from: PageFrom<Position> | null;
}): TwoWayPage<Row, Cursor>;

export { CursorError, cursorCodec, cursorKeyRing, paginate };
export type { CursorCodec, CursorCodecOptions, CursorErrorCode, CursorKey, CursorKeyRing, Page, PageFrom, PaginateOptions, PreparedKey, StandardResult, StandardSchemaV1, TwoWayPage };

// @outreach/cursor/keyset
/** Where a page begins or ends: after a position, or before one, which is a previous page. Without either, at the beginning of the list. */
interface PageFrom<Position> {
    readonly after?: Position | null | undefined;
    /** "end" reads the last page. */
    readonly before?: Position | "end" | null | undefined;
}

/** A direction in SQL's words. A column that may be null says where its nulls stand; one that does not is `not null`. */
type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`;
/** A column that has another name in the statement than in the position, or whose values are cast. */
interface KeysetColumn {
    /** An SQL identifier: `created_at`, `invoice.created_at` or `"createdAt"`. Default: its name in the position. */
    readonly column?: string | undefined;
    readonly order: Order;
    /**
     * PostgreSQL's type in one word, such as `timestamptz`: values are sent as text, and cast there. A driver needs it that makes a
     * `Date` of each time that it sends, as postgres.js does. A statement with `?` has no casts.
     */
    readonly type?: string | undefined;
}
/** A value of a position. */
type KeysetValue = string | number | bigint | boolean | Date | null;
/** The parts of a statement that reads a page. */
interface Keyset<Value extends KeysetValue = KeysetValue> {
    /** The condition that a row is on the page or beyond; `true` where a page begins at an end of the list. */
    readonly where: string;
    /** The order in which the page is read; of a previous page the reverse, which `paginate` turns around. */
    readonly orderBy: string;
    /** The values of the parameters in `where`, in their order. */
    readonly values: Value[];
}
/**
 * Makes the condition and the order of a page, for PostgreSQL and SQLite. The columns, in their order, must tell any two rows apart.
 *
 * Values are parameters: `?`, or numbered from the first one on, such as `$2`. Where all columns run in one direction and no null
 * follows, rows are compared, which is one range of an index: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on what is not an identifier, an order or a placeholder, and on a position without a value of a column.
 */
declare function keyset<Columns extends Readonly<Record<string, Order | KeysetColumn>>, Position extends {
    readonly [Name in keyof Columns]: KeysetValue;
}>(columns: Columns, from: PageFrom<Position> | null | undefined, { placeholder }: {
    readonly placeholder: "?" | `$${number}`;
}): Keyset<Position[keyof Columns]>;

export { keyset };
export type { Keyset, KeysetColumn, KeysetValue, Order, PageFrom };
