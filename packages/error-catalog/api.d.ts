// @outreach/error-catalog
import { b as ErrorTypes, E as ErrorCodes, c as CatalogOptions, a as ErrorCatalog } from './ErrorCatalog.js';
export { d as CatalogError, C as CatalogErrors, e as ErrorCode, f as ErrorResponse, O as Occurrence, P as ParsedError, R as ResponseHead, g as Retry } from './ErrorCatalog.js';
export { E as Envelope, I as InputOf, J as JsonSchema, O as OutputOf, R as ReadError, S as StandardSchema, W as WrittenError } from './Envelope.js';

/**
 * Creates a catalog from its types and codes.
 *
 * Throws `TypeError` that names the option if the tables don't match.
 */
declare function defineCatalog<const Types extends ErrorTypes, const Codes extends ErrorCodes<keyof Types & string>, Context extends object>(options: CatalogOptions<Types, Codes, Context>): ErrorCatalog<Types, Codes, Context>;

export { CatalogOptions, ErrorCatalog, ErrorCodes, ErrorTypes, defineCatalog };

// @outreach/error-catalog/express
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import { H as HandlerOptions } from './respondTo.js';
import './Envelope.js';

/** The parts of an Express request that the options can read. Give their parameter a type to read others. */
interface ExpressRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
}
/** The parts of an Express response that the handler uses. */
interface ExpressResponse {
    readonly headersSent: boolean;
    statusCode: number;
    setHeader(name: string, value: string): unknown;
    removeHeader(name: string): unknown;
    end(body: string): unknown;
}
/** Creates an error handler for Express 4 or 5: `app.use(errorHandler(errors, { onError }))` after all routes. */
declare function errorHandler<Codes extends ErrorCodes, Context extends object, Request extends ExpressRequest>(catalog: ErrorCatalog<ErrorTypes, Codes, Context>, options: HandlerOptions<Codes, Context, Request>): (caught: unknown, request: ExpressRequest, response: ExpressResponse, next: (caught: unknown) => void) => void;

export { errorHandler };
export type { ExpressRequest, ExpressResponse };

// @outreach/error-catalog/fastify
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import { H as HandlerOptions } from './respondTo.js';
import './Envelope.js';

/** The parts of a Fastify request that the options can use. Give their parameter a type to use others. */
interface FastifyRequest {
    readonly id: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    readonly log: {
        info(error: unknown): void;
        error(error: unknown): void;
    };
}
/** The parts of a Fastify reply that the handler uses. */
interface FastifyReply {
    code(status: number): {
        headers(values: Readonly<Record<string, string>>): {
            send(...body: any): unknown;
        };
    };
}
/** Creates an error handler for Fastify: `app.setErrorHandler(errorHandler(errors, { onError }))`. */
declare function errorHandler<Codes extends ErrorCodes, Context extends object, Request extends FastifyRequest>(catalog: ErrorCatalog<ErrorTypes, Codes, Context>, options: HandlerOptions<Codes, Context, Request>): (caught: unknown, request: FastifyRequest, reply: FastifyReply) => void;

export { errorHandler };
export type { FastifyReply, FastifyRequest };

// @outreach/error-catalog/hono
import { F as FetchResponse } from './ErrorCatalog.js';
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import { H as HandlerOptions } from './respondTo.js';
import './Envelope.js';

/** The parts of a Hono context that the handler uses. */
interface HonoContext {
    readonly req: {
        readonly bodyCache: {
            readonly text?: unknown;
        };
    };
    body(data: string, status: number, headers: Record<string, string>): FetchResponse;
}
/** Creates an error handler for Hono: `app.onError(errorHandler(errors, { onError }))`. */
declare function errorHandler<Codes extends ErrorCodes, Context extends object, Hono extends HonoContext>(catalog: ErrorCatalog<ErrorTypes, Codes, Context>, options: HandlerOptions<Codes, Context, Hono>): (caught: Error, context: Hono) => Promise<FetchResponse>;

export { errorHandler };
export type { HonoContext };

// @outreach/error-catalog/markdown
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import './Envelope.js';

/** Options of `markdown`. */
interface MarkdownOptions<Code extends string = string> {
    /** Renders only the table of types, the index of codes, or the code sections. Default: all, with headings. */
    readonly part?: "types" | "index" | "codes";
    /** Returns the anchor of a code's section. Default: the code. */
    readonly anchor?: (code: Code) => string;
    /** Changes or adds rows of a code's section, as a map from name to Markdown. */
    readonly rows?: (code: Code, rows: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
}
/** Renders the catalog's reference page in Markdown, or one part of it. */
declare function markdown<Codes extends ErrorCodes>(catalog: Pick<ErrorCatalog<ErrorTypes, Codes>, "types" | "codes">, options?: MarkdownOptions<keyof Codes & string>): string;

export { markdown };
export type { MarkdownOptions };

// @outreach/error-catalog/openapi
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import { JsonSchema, StandardSchema } from './index.js';

/** Options of `openapi`. */
interface OpenApiOptions<Code extends string, Operation extends string, Context extends object> {
    /** Schema for every body, such as a `$ref`. Default: one component for each code. */
    readonly schema?: unknown;
    /** Converts a schema of details to JSON Schema (draft 2020-12). Default: its `~standard.jsonSchema`. */
    readonly toJsonSchema?: (schema: StandardSchema) => JsonSchema;
    /** Prefix of each component name. Default: empty. */
    readonly prefix?: string;
    /** Context fields of the examples, such as a request id. */
    readonly context?: Context;
    /** Returns the message of a code's example. Default: its title. */
    readonly message?: (code: Code) => string;
    /** Returns the response headers for these codes. Default: `Retry-After` if one of them is retried after a wait. */
    readonly headers?: (codes: readonly Code[], operation: Operation) => object;
}
/** The components, and the responses of each operation by status. */
interface OpenApi<Operation extends string> {
    readonly components: {
        readonly schemas: Readonly<Record<string, JsonSchema>>;
        readonly examples: Readonly<Record<string, {
            readonly summary: string;
            readonly value: object;
        }>>;
    };
    readonly responses: Readonly<Record<Operation, Readonly<Record<string, OpenApiResponse>>>>;
}
/** A Response Object of OpenAPI 3.1. */
interface OpenApiResponse {
    readonly description: string;
    readonly headers: object;
    readonly content: Readonly<Record<string, {
        readonly schema: unknown;
        readonly examples: Readonly<Record<string, {
            readonly $ref: string;
        }>>;
    }>>;
}
/**
 * Describes a catalog's errors for OpenAPI 3.1: the responses of each operation by status, and the components they use.
 *
 * Without operations, returns the components of every code. Throws `TypeError` that names the code if the schema of its details
 * can't be converted.
 */
declare function openapi<Codes extends ErrorCodes, Context extends object, Operation extends string = never>(catalog: ErrorCatalog<ErrorTypes, Codes, Context>, operations?: Readonly<Record<Operation, ReadonlyArray<keyof Codes & string>>>, options?: OpenApiOptions<keyof Codes & string, Operation, Context>): OpenApi<Operation>;

export { openapi };
export type { OpenApi, OpenApiOptions, OpenApiResponse };

// @outreach/error-catalog/partner
import { Envelope } from './index.js';

/** Body fields next to the error. */
interface PartnerContext {
    /** The value of the `X-Request-Id` response header. */
    readonly requestId: string;
}
/** `{ error: { type, code, message, details, doc_url, request_id } }`, where `details` defaults to null. */
declare const partnerEnvelope: Envelope<PartnerContext>;

export { partnerEnvelope };
export type { PartnerContext };

// @outreach/error-catalog/problem
import { Envelope } from './index.js';

/** Body fields next to the error. */
interface ProblemContext {
    /** URI reference of this occurrence, such as the request path (RFC 9457, 3.1.5). */
    readonly instance?: string | undefined;
    /** Request id, written as `request_id`. */
    readonly requestId?: string | undefined;
}
/**
 * `application/problem+json` (RFC 9457). `type` is the code's `docUrl`; `code`, `request_id`, `retry_after` and the details are extension members.
 *
 * Details with one of these names are nested in a `details` member. `detail` is omitted if it equals `title`.
 */
declare const problemJson: Envelope<ProblemContext>;

export { problemJson };
export type { ProblemContext };

// @outreach/error-catalog/dist/Envelope.d.ts
/** A schema of Zod, Valibot, ArkType or another library that follows https://standardschema.dev, version 1. */
interface StandardSchema<Input extends object = object, Output extends object = Input> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
        readonly types?: {
            readonly input: Input;
            readonly output: Output;
        } | undefined;
        /** Required for OpenAPI. Libraries that implement Standard JSON Schema provide it. */
        readonly jsonSchema?: {
            readonly input: (options: {
                readonly target: "draft-2020-12";
            }) => JsonSchema;
        };
    };
}
type SchemaResult<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: ReadonlyArray<{
        readonly message: string;
    }>;
};
/** A JSON Schema of draft 2020-12, as used by OpenAPI 3.1. */
type JsonSchema = Readonly<Record<string, unknown>>;
/** Input type of a schema. */
type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];
/** Output type of a schema. */
type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

/** Values of one error that an envelope writes. */
interface WrittenError {
    readonly code: string;
    readonly type: string;
    readonly status: number;
    /** The code's meaning, the same for each occurrence. */
    readonly title: string;
    /** Message of this occurrence. Default: the title. */
    readonly message: string;
    readonly details: object | null;
    readonly docUrl: string;
    /** Seconds; null if the caller doesn't have to wait. */
    readonly retryAfter: number | null;
}
/** Values that an envelope found in a body. The catalog validates each. All are optional; a body with another service's `docUrl` is ignored. */
interface ReadError<Context> {
    readonly code?: unknown;
    readonly type?: unknown;
    readonly status?: unknown;
    readonly message?: unknown;
    readonly details?: unknown;
    readonly docUrl?: unknown;
    readonly retryAfter?: unknown;
    readonly context?: Partial<Context>;
}
/**
 * The format of an error body. `Context` contains the fields next to the error, such as the request id.
 *
 * Implement this interface for a custom format.
 */
interface Envelope<Context extends object = object> {
    readonly contentType: string;
    readonly write: (error: WrittenError, context: Context) => object;
    /** Finds the error in an untrusted JSON object. Returns undefined if the object doesn't have this format. */
    readonly read: (body: Readonly<Record<string, unknown>>) => ReadError<Context> | undefined;
    /** JSON Schema of a code's body; `details` is the schema of its details. */
    readonly schema: (error: Pick<WrittenError, "code" | "type" | "status" | "docUrl">, details: JsonSchema | undefined) => JsonSchema;
}

export type { Envelope as E, InputOf as I, JsonSchema as J, OutputOf as O, ReadError as R, StandardSchema as S, WrittenError as W };

// @outreach/error-catalog/dist/ErrorCatalog.d.ts
import { S as StandardSchema, I as InputOf, O as OutputOf, E as Envelope } from './Envelope.js';

/** Whether the same request may be retried: never, after `Retry-After`, or with exponential backoff. */
type Retry = "no" | "after" | "backoff";
/** Error types by name. Callers branch on them, even for codes they don't know yet. */
type ErrorTypes = Readonly<Record<string, {
    readonly retry: Retry;
}>>;
/** One row of a catalog's table of codes. */
interface ErrorCode<Type extends string = string> {
    readonly type: Type;
    /** HTTP status of the response, 400–599. */
    readonly status: number;
    /** Meaning of the code in one sentence. Default message of its errors. */
    readonly title: string;
    /** When the error occurs, in Markdown, for the reference page. Default: the title. */
    readonly description?: string;
    /** How a caller should react, in Markdown, for the reference page. */
    readonly advice?: string;
    /** Headers of every response with this code, such as `WWW-Authenticate`. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Schema of the details. Without one, details are optional and untyped. */
    readonly details?: StandardSchema;
    /** Details for the OpenAPI example. */
    readonly example?: object;
}
/** Error codes by name, each with one of the catalog's types. */
type ErrorCodes<Type extends string = string> = Readonly<Record<string, ErrorCode<Type>>>;

/** A throwable error of a catalog. */
interface CatalogError<Code extends string = string, Type extends string = string, Details = object | null, Context extends object = object> extends Error {
    readonly name: "CatalogError";
    readonly code: Code;
    readonly type: Type;
    readonly status: number;
    readonly retry: Retry;
    readonly details: Details;
    /** Seconds; null if the caller doesn't have to wait. */
    readonly retryAfter: number | null;
    /** Response headers, including `Retry-After` but not the content type. */
    readonly headers: Readonly<Record<string, string>>;
    /** Builds the response body. */
    readonly toBody: (...context: Arguments<Context>) => object;
    /** Builds a Fetch `Response`. */
    readonly toResponse: (...context: Arguments<Context>) => FetchResponse;
}
/** All errors of a catalog as a union, or the errors of one code. */
type CatalogErrors<Codes extends ErrorCodes, Context extends object, Code extends keyof Codes = keyof Codes> = {
    [Name in Code & string]: CatalogError<Name, Codes[Name]["type"], DetailsOf<Codes[Name]>, Context>;
}[Code & string];
/** Options of one error. `details` is required if the code has a schema, `retryAfter` if its type is retried after a wait. */
type Occurrence<Types extends ErrorTypes, Row extends ErrorCode> = {
    /** Message for people; must not contain secrets. Default: the code's title. */
    readonly message?: string | undefined;
    /** Response headers. Invalid characters, such as line breaks, become spaces. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** For logs. Never part of a response. */
    readonly cause?: unknown;
} & DetailsOption<Row> & RetryAfterOption<Types[Row["type"]]["retry"]>;
type DetailsOption<Row> = (Row extends {
    readonly details: infer Schema extends StandardSchema;
} ? (option: {
    readonly details: InputOf<Schema>;
}) => void : (option: {
    readonly details?: FreeDetails | undefined;
}) => void) extends (option: infer Option) => void ? Option : never;
type DetailsOf<Row> = Row extends {
    readonly details: infer Schema extends StandardSchema;
} ? InputOf<Schema> : FreeDetails;
/** Details of a code without a schema. */
type FreeDetails = Readonly<Record<string, unknown>> | null;
type RetryAfterOption<Kind extends Retry> = "after" extends Kind ? Delay<number> : Partial<Delay<number | undefined>>;
interface Delay<Seconds> {
    /** Seconds until the same request may be sent again, for `Retry-After`. */
    readonly retryAfter: Seconds;
}
/** Makes an argument optional if none of its properties is required. */
type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];
/** A Fetch `Response`, if the platform's types include one. */
type FetchResponse = typeof globalThis extends {
    readonly Response: {
        readonly prototype: infer Response;
    };
} ? Response : object;

/** The parts of a response that `parse` uses in addition to the body. A Fetch `Response` has them. */
interface ResponseHead {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null | undefined;
    };
}
/** A parsed error: one case for each code of the catalog, one for unknown codes, and one for bodies of other services. */
type ParsedError<Codes extends ErrorCodes, Context extends object = object> = ({
    [Code in keyof Codes & string]: KnownError<Code, Codes[Code]>;
}[keyof Codes & string] | UnknownError | ForeignBody) & Wait & Readonly<Partial<Context>>;
/** Whether and when the same request may be retried; in seconds. */
type Wait = {
    readonly retry: "after";
    readonly retryAfter: number;
} | {
    readonly retry: "no" | "backoff";
    readonly retryAfter: number | null;
};
interface KnownError<Code, Row> {
    readonly code: Code;
    readonly unknownCode: null;
    readonly type: Row extends {
        readonly type: infer Type;
    } ? Type : never;
    readonly status: number;
    readonly message: string;
    readonly details: Row extends {
        readonly details: infer Schema extends StandardSchema;
    } ? OutputOf<Schema> : Readonly<Record<string, unknown>> | null;
    readonly docUrl: string | null;
}
/** An unknown code, or a code whose details don't match its schema. */
interface UnknownError {
    readonly code: null;
    /** The received code. */
    readonly unknownCode: string;
    readonly type: string | null;
    readonly status: number | null;
    readonly message: string | null;
    readonly details: Readonly<Record<string, unknown>> | null;
    readonly docUrl: string | null;
}
/** A body that isn't an error of this service, such as a proxy's page. */
type ForeignBody = {
    readonly [Name in Exclude<keyof UnknownError, "status">]: null;
} & Pick<UnknownError, "status">;

/** Options of `defineCatalog`. */
interface CatalogOptions<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object> {
    readonly types: Types;
    readonly codes: Codes;
    /** Format of the bodies: `problemJson`, `partnerEnvelope` or a custom one. */
    readonly envelope: Envelope<Context>;
    /** Returns the documentation URL of a code. */
    readonly docUrl: (code: string) => string;
    /** Returns whether the URL in a received body is of this service. Default: whether it equals `docUrl(code)`, as in one deployment. */
    readonly isDocUrl?: (url: string, code: string) => boolean;
    /** Code, or codes by status, for thrown values that don't belong to this catalog. */
    readonly unknown: UnknownCodes<WithoutDetails<Codes>>;
    /** Validates details at run time when an error is created, for example during development. Default: false, because the compiler checks them. */
    readonly checkDetails?: boolean;
}
/** The code of all values, or codes by the status of a framework's error. The one of 400 is also that of each 4xx that isn't listed. */
type UnknownCodes<Code> = Code | (Readonly<Record<400 | "default", Code>> & Readonly<Record<number, Code>>);
type WithoutDetails<Codes extends ErrorCodes> = {
    [Code in keyof Codes & string]: Codes[Code] extends {
        readonly details: StandardSchema;
    } ? never : Code;
}[keyof Codes & string];
/** A catalog: its two tables and its functions, which can be used detached from the object. */
interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object = object> {
    readonly types: Types;
    readonly codes: Codes;
    readonly envelope: Envelope<Context>;
    readonly docUrl: (code: string) => string;
    /** Creates an error to throw. Throws `RangeError` on an unknown code. */
    readonly error: <Code extends keyof Codes & string>(code: Code, ...options: Arguments<Occurrence<Types, Codes[Code]>>) => CatalogErrors<Codes, Context, Code>;
    /** Returns whether a value is an error of this catalog, even if it was created by another copy of the package. */
    readonly is: (caught: unknown) => caught is CatalogErrors<Codes, Context>;
    /** Returns an error of this catalog unchanged. Wraps any other value in an error of an `unknown` code, as its `cause`. */
    readonly from: (caught: unknown) => CatalogErrors<Codes, Context>;
    /** Builds the response for a caught value. Values that aren't errors of this catalog don't appear in it. */
    readonly respond: (caught: unknown, ...context: Arguments<Context>) => ErrorResponse;
    /** Builds a body without creating an error, which avoids the cost of a stack trace. Throws `RangeError` on an unknown code. */
    readonly body: <Code extends keyof Codes & string>(code: Code, options: Omit<Occurrence<Types, Codes[Code]>, "headers" | "cause"> & Context) => object;
    /**
     * Parses the body of an error response (JSON or text, any content). Also uses the response's status and `Retry-After`.
     *
     * The last two cases of the union have a null code: an unknown code, or one with details that don't match its schema; and a body
     * that isn't an error of this service, which has a null `unknownCode` too.
     */
    readonly parse: (body: unknown, response?: ResponseHead) => ParsedError<Codes, Context>;
    /** Returns whether an error of this type may be retried; "no" for an unknown type. */
    readonly retry: (type: string) => Retry;
}
/** A response for servers that don't use Fetch. */
interface ErrorResponse {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: object;
}

export type { CatalogErrors as C, ErrorCodes as E, FetchResponse as F, Occurrence as O, ParsedError as P, ResponseHead as R, ErrorCatalog as a, ErrorTypes as b, CatalogOptions as c, CatalogError as d, ErrorCode as e, ErrorResponse as f, Retry as g };

// @outreach/error-catalog/dist/respondTo.d.ts
import { E as ErrorCodes, C as CatalogErrors } from './ErrorCatalog.js';

/** Options of an error handler. `context` is required if the envelope requires a context. */
type HandlerOptions<Codes extends ErrorCodes, Context extends object, Request> = {
    /** Called with every error, for logs. Its `cause` is the caught value if that isn't of the catalog. A request contains secrets. */
    readonly onError: (error: CatalogErrors<Codes, Context>, request: Request) => unknown;
} & (Record<never, never> extends Context ? {
    readonly context?: (request: Request) => Context;
} : {
    readonly context: (request: Request) => Context;
});

export type { HandlerOptions as H };
