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

// @outreach/cursor/builder
import { OrderedColumn, KeysetColumns, PositionOf, PageFrom, Dialect, Clauses } from './keyset.js';

/** A column of a query builder, a computed column, or a column with values that need a cast. */
interface BuilderColumn extends OrderedColumn {
    /**
     * Column or expression of the builder, such as `invoices.createdAt` or `` sql`lower(${invoices.name})` ``, without an alias.
     * With Kysely also a reference such as `invoice.createdAt`, by default the key in the position.
     */
    readonly column?: string | object | undefined;
}
/** The `sql` tag of Kysely or Drizzle, as far as `builderKeyset` uses it. */
interface SqlTag<Fragment> {
    (strings: TemplateStringsArray, ...parts: unknown[]): Fragment;
    /** Kysely's: quotes a reference. */
    readonly ref?: (reference: string) => unknown;
    /** Drizzle's: encodes a value like its column. */
    readonly param?: (value: unknown, encoder?: never) => unknown;
}
/**
 * Creates the condition and the order of a page as fragments for `where` and `orderBy` of Kysely or Drizzle.
 *
 * The builder quotes the columns and numbers the parameters. Throws `TypeError` on an invalid column, order, type or dialect, and on
 * a position that lacks a column.
 */
declare function builderKeyset<Columns extends KeysetColumns<BuilderColumn>, Position extends PositionOf<Columns>, Fragment>(columns: Columns, from: PageFrom<Position> | null | undefined, { sql, dialect }: {
    readonly sql: SqlTag<Fragment>;
    readonly dialect: Dialect;
}): Clauses<Fragment & {
    readonly expressionType: boolean | undefined;
}, Fragment>;

export { builderKeyset };
export type { BuilderColumn, SqlTag };

// @outreach/cursor/keyset
import { b as KeysetValue, C as Clauses, O as OrderedColumn, K as KeysetColumns, P as PositionOf, a as PageFrom, D as Dialect } from './keysetClauses.js';
export { c as Order } from './keysetClauses.js';

/** A column with a different name than its key in the position, a computed column, or a column with values that need a cast. */
interface KeysetColumn extends OrderedColumn {
    /** SQL identifier: `created_at`, `invoice.created_at`, `"createdAt"`, or `` `createdAt` `` for MySQL. Default: the key in the position. */
    readonly column?: string | undefined;
    /** Trusted SQL expression in place of a column, such as `lower(name)`. Never accept it from a request. */
    readonly sql?: string | undefined;
}
/** SQL fragments of a page query. */
interface Keyset<Value extends KeysetValue = KeysetValue> extends Clauses {
    /** Parameter values of `where`, in order. */
    readonly values: Value[];
}
/**
 * Creates the condition and the order of a page for PostgreSQL, SQLite, MySQL and SQL Server. The columns together must identify a row.
 *
 * Values are parameters. In PostgreSQL and SQLite, if all columns have one direction and no nulls follow, the condition compares
 * rows, which is one index range: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on an invalid identifier, order, placeholder or dialect, and on a position that lacks a column.
 */
declare function keyset<Columns extends KeysetColumns<KeysetColumn>, Position extends PositionOf<Columns>>(columns: Columns, from: PageFrom<Position> | null | undefined, { placeholder, dialect: given, }: {
    /** `?`, or the first number: `$2` for PostgreSQL, `@p2` for SQL Server. */
    readonly placeholder: "?" | `$${number}` | `@p${number}`;
    /** Default: `sqlite` for `?`, `postgresql` for `$1`, `mssql` for `@p1`. Set it to `mysql` for MySQL and MariaDB. */
    readonly dialect?: Dialect | undefined;
}): Keyset<Position[keyof Columns]>;

export { Clauses, Dialect, KeysetColumns, KeysetValue, OrderedColumn, PageFrom, PositionOf, keyset };
export type { Keyset, KeysetColumn };

// @outreach/cursor/dist/keysetClauses.d.ts
/** Where a page starts: after a position (next page) or before one (previous page). Without either, at the start of the list. */
interface PageFrom<Position> {
    readonly after?: Position | null | undefined;
    /** "end" reads the last page. */
    readonly before?: Position | "end" | null | undefined;
}

/** Sort direction. Nullable columns include the position of nulls; columns without it must be `not null`. */
type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`;
/** The database of a statement. `mysql` includes MariaDB. */
type Dialect = "postgresql" | "sqlite" | "mysql" | "mssql";
/** A value of a position. */
type KeysetValue = string | number | bigint | boolean | Date | null;
/** A sort column, however it is named. */
interface OrderedColumn {
    readonly order: Order;
    /**
     * PostgreSQL type in one word, such as `timestamptz`: values are sent as text and cast in the statement. Required for drivers
     * that convert time parameters to `Date`, such as postgres.js. Statements of other databases have no casts.
     */
    readonly type?: string | undefined;
}
/** Sort columns by their key in the position. */
type KeysetColumns<Column> = Readonly<Record<string, Order | Column>>;
/** A position with a value for each column. */
type PositionOf<Columns> = {
    readonly [Name in keyof Columns]: KeysetValue;
};
/** The clauses of a page query: text, or fragments of a query builder. */
interface Clauses<Where = string, OrderBy = Where> {
    /** Condition for the rows from the page's start on. True at either end of the list. */
    readonly where: Where;
    /** Sort order. Reversed for a previous page; `paginate` restores the order. */
    readonly orderBy: OrderBy;
}

export type { Clauses as C, Dialect as D, KeysetColumns as K, OrderedColumn as O, PositionOf as P, PageFrom as a, KeysetValue as b, Order as c };
