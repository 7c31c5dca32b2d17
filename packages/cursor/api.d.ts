// @outreach/cursor
/** Reason for rejecting a cursor or a position. Minor versions may add codes, but don't remove any. */
type CursorErrorCode = 
/** Not text that a codec can produce. */
"malformed"
/** Made by another version of the format. */
 | "unsupported_version"
/** Altered, or made with a different key or scope. */
 | "not_authentic"
/** Older than `expiresAfter`, or made by a codec without it. */
 | "expired"
/** The schema rejects the position, or it contains values other than JSON, bigints and dates. */
 | "invalid_position"
/** The cursor would be longer than 2,048 characters. */
 | "position_too_large"
/** The schema validates asynchronously, which is not supported. */
 | "asynchronous_schema";
/** Thrown when a cursor can't be decoded or encoded. Contains neither the cursor nor the position. */
declare class CursorError extends Error {
    readonly name: string;
    readonly code: CursorErrorCode;
    constructor(code: CursorErrorCode, options?: {
        readonly cause?: unknown;
    });
}

/** A key of a ring. */
interface CursorKey {
    /** Secret key of at least 32 bytes. Strings are read as UTF-8. */
    readonly key: Uint8Array | string;
    /**
     * Whole number from 0 to 255, included in this key's cursors, so that decoding tries only keys with that id.
     *
     * Without an id, the key makes the same cursors as a single key, and decoding tries it for every cursor.
     */
    readonly id?: number | undefined;
}
/** Validated keys, usable by any number of codecs. */
interface CursorKeyRing {
    /** Internal to `cursorCodec`. */
    readonly "~keys": readonly [PreparedKey, ...ReadonlyArray<PreparedKey>];
}
/** A key that can authenticate payloads. */
interface PreparedKey {
    readonly id: number | undefined;
    readonly authenticate: (context: string, payload: Uint8Array) => Uint8Array;
}
/**
 * Prepares several keys for `cursorCodec`: the first encodes, all of them decode.
 *
 * Throws `RangeError` on an empty list, a key shorter than 32 bytes, and an id outside 0 to 255.
 */
declare function cursorKeyRing(keys: ReadonlyArray<CursorKey>): CursorKeyRing;

/** Options of `cursorCodec`. */
interface CursorCodecOptions<Position> {
    /** Types and validates a position synchronously. Any Standard Schema v1 validator that accepts its own output as input. */
    readonly schema: StandardSchemaV1<Position>;
    /** Secret key of at least 32 bytes (strings are read as UTF-8), or several keys: the first encodes, all of them decode. */
    readonly key: Uint8Array | string | CursorKeyRing;
    /** The context a cursor is bound to, such as endpoint, caller and filters. Not empty. Authenticated, but not included in the cursor. */
    readonly scope: string;
    /** Lifetime of a cursor in whole seconds, minutes, hours or days. Default: unlimited. */
    readonly expiresAfter?: `${number}${keyof typeof UNITS}` | undefined;
    /** Clock in milliseconds since 1970, such as `Date.now`. Required with `expiresAfter`. */
    readonly now?: (() => number) | undefined;
}
/** Units of a duration, in seconds. */
declare const UNITS: {
    readonly s: 1;
    readonly m: 60;
    readonly h: 3600;
    readonly d: 86400;
};
/** Encodes positions as cursors and decodes them. */
interface CursorCodec<Position> {
    /**
     * Encodes a position as URL-safe text. Equal positions return equal text, unless the codec has `expiresAfter`, which adds the current second.
     *
     * Includes only the schema's output. Throws `CursorError`: `invalid_position` if the schema rejects the position or its output contains
     * values other than JSON, bigints and dates, `position_too_large` if the text exceeds 2,048 characters, `asynchronous_schema`.
     */
    readonly encode: (position: Position) => string;
    /**
     * Decodes a cursor made with a key of the same ring, the same scope and the same schema. Returns null for null or undefined.
     *
     * Throws only `CursorError`, for any input: `malformed`, `unsupported_version`, `not_authentic`, `expired`, and
     * `invalid_position` if the schema rejects an authentic position.
     */
    readonly decode: Decode<Position>;
}
interface Decode<Position> {
    (cursor: string): Position;
    (cursor: string | null | undefined): Position | null;
}
/**
 * Creates a codec for cursors of one kind and one scope. Cheap enough to create for each request.
 *
 * A cursor is base64url of a version byte, the key id (if any), an HMAC-SHA-256 and the position as JSON: it is protected against
 * changes, but readable. Throws `RangeError` on a key shorter than 32 bytes, and `TypeError` on an empty scope, an invalid
 * duration, or a duration without a clock.
 */
declare function cursorCodec<Position>(options: CursorCodecOptions<Position>): CursorCodec<Position>;
/** The subset of a Standard Schema v1 validator that the codec uses. Source: https://standardschema.dev */
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

/** Where a page starts: after a position (next page) or before one (previous page). Without either, at the start of the list. */
interface PageFrom<Position> {
    readonly after?: Position | null | undefined;
    /** "end" reads the last page. */
    readonly before?: Position | "end" | null | undefined;
}

/** Options of `paginate`. */
interface PaginateOptions<Row, Position, Cursor> {
    /** Rows that were read with `limit + 1`, in query order. The extra row shows that another page follows. */
    readonly rows: ReadonlyArray<Row>;
    /** Maximum number of rows of a page, at least 1. */
    readonly limit: number;
    /** Returns the key values of a row. */
    readonly position: (row: Row) => Position;
    /** Encodes positions as cursors. Without a codec, the page's cursors are positions. */
    readonly codec?: {
        readonly encode: (position: Position) => Cursor;
    } | undefined;
}
/** A page of a list that is read forwards. */
interface Page<Row, Cursor> {
    readonly data: ReadonlyArray<Row>;
    readonly has_more: boolean;
    /** Cursor of the next page; null on the last page. */
    readonly next_cursor: Cursor | null;
}
/** A page of a list that is read both ways. */
interface TwoWayPage<Row, Cursor> extends Page<Row, Cursor> {
    /** Cursor of the previous page; null on the first page. */
    readonly previous_cursor: Cursor | null;
}
/**
 * Creates a page from rows that were read with `limit + 1`.
 *
 * With `from`, the value that `keyset` received, the page has both cursors, and the rows of a previous page are put in list order.
 * The cursor back to the caller's page is set without checking for rows there. An empty page has no cursors.
 *
 * Throws `RangeError` unless the limit is a whole number of at least 1, and the errors of the codec.
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
/** Where a page starts: after a position (next page) or before one (previous page). Without either, at the start of the list. */
interface PageFrom<Position> {
    readonly after?: Position | null | undefined;
    /** "end" reads the last page. */
    readonly before?: Position | "end" | null | undefined;
}

/** Sort direction. Nullable columns include the position of nulls; columns without it must be `not null`. */
type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`;
/** A column whose name differs from its key in the position, or whose values need a cast. */
interface KeysetColumn {
    /** SQL identifier: `created_at`, `invoice.created_at` or `"createdAt"`. Default: the key in the position. */
    readonly column?: string | undefined;
    readonly order: Order;
    /**
     * PostgreSQL type in one word, such as `timestamptz`: values are sent as text and cast in the statement. Required for drivers
     * that convert time parameters to `Date`, such as postgres.js. Statements with `?` placeholders have no casts.
     */
    readonly type?: string | undefined;
}
/** A value of a position. */
type KeysetValue = string | number | bigint | boolean | Date | null;
/** SQL fragments of a page query. */
interface Keyset<Value extends KeysetValue = KeysetValue> {
    /** Condition for the rows from the page's start on. `true` at either end of the list. */
    readonly where: string;
    /** Sort order. Reversed for a previous page; `paginate` restores the order. */
    readonly orderBy: string;
    /** Parameter values of `where`, in order. */
    readonly values: Value[];
}
/**
 * Creates the condition and the order of a page for PostgreSQL and SQLite. The columns together must identify a row.
 *
 * Values are parameters: `?`, or numbered from a start such as `$2`. If all columns have one direction and no nulls follow,
 * the condition compares rows, which is one index range: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on an invalid identifier, order or placeholder, and on a position that lacks a column.
 */
declare function keyset<Columns extends Readonly<Record<string, Order | KeysetColumn>>, Position extends {
    readonly [Name in keyof Columns]: KeysetValue;
}>(columns: Columns, from: PageFrom<Position> | null | undefined, { placeholder }: {
    readonly placeholder: "?" | `$${number}`;
}): Keyset<Position[keyof Columns]>;

export { keyset };
export type { Keyset, KeysetColumn, KeysetValue, Order, PageFrom };
