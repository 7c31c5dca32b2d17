// @outreach/error-catalog
import { E as ErrorTypes, a as ErrorCodes, C as CatalogOptions, b as ErrorCatalog } from './CatalogError-gaD1IVcN.js';
export { c as CatalogError, d as CatalogErrors, e as ErrorCode, f as ErrorResponse, O as Occurrence, P as ParsedError, R as ResponseHead, g as Retry } from './CatalogError-gaD1IVcN.js';
export { E as Envelope, I as InputOf, J as JsonSchema, O as OutputOf, R as ReadError, S as StandardSchema, W as WrittenError } from './Envelope-CDjCxqP8.js';

/**
 * Creates a catalog from its tables of types and codes.
 *
 * Throws `TypeError`, naming the option, where they do not fit together.
 */
declare function defineCatalog<const Types extends ErrorTypes, const Codes extends ErrorCodes<keyof Types & string>, Context extends object>(options: CatalogOptions<Types, Codes, Context>): ErrorCatalog<Types, Codes, Context>;

export { CatalogOptions, ErrorCatalog, ErrorCodes, ErrorTypes, defineCatalog };

// @outreach/error-catalog/markdown
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import './Envelope-CDjCxqP8.js';

/** How the page of codes is written. */
interface MarkdownOptions<Code extends string = string> {
    /** The table of types, the links to the codes, or the sections of the codes, alone. Default: all, under headings. */
    readonly part?: "types" | "index" | "codes";
    /** The id of a code's section. Default: the code. */
    readonly anchor?: (code: Code) => string;
    /** Changes the rows of a code's section, or adds to them; each has a name and a text in Markdown. */
    readonly rows?: (code: Code, rows: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
}
/** Writes the page of a catalog's codes in Markdown, or one part of it. */
declare function markdown<Codes extends ErrorCodes>(catalog: Pick<ErrorCatalog<ErrorTypes, Codes>, "types" | "codes">, options?: MarkdownOptions<keyof Codes & string>): string;

export { markdown };
export type { MarkdownOptions };

// @outreach/error-catalog/openapi
import { ErrorCodes, ErrorCatalog, ErrorTypes } from './index.js';
import { JsonSchema } from './index.js';

/** How the errors are described. */
interface OpenApiOptions<Code extends string, Operation extends string, Context extends object> {
    /** The schema of every body, such as a `$ref`. Default: a component for each code. */
    readonly schema?: unknown;
    /** Stands before the name of each component. Default: nothing. */
    readonly prefix?: string;
    /** What the examples hold beside their error, such as the id of a request. */
    readonly context?: Context;
    /** The message of a code's example. Default: its title. */
    readonly message?: (code: Code) => string;
    /** The headers of a response with these codes. Default: `Retry-After`, where one of them is retried after it. */
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
 * Describes the errors of a catalog for OpenAPI 3.1: the responses of each operation by status, and the components that they use.
 *
 * Without operations, the components are those of every code.
 */
declare function openapi<Codes extends ErrorCodes, Context extends object, Operation extends string = never>(catalog: ErrorCatalog<ErrorTypes, Codes, Context>, operations?: Readonly<Record<Operation, ReadonlyArray<keyof Codes & string>>>, options?: OpenApiOptions<keyof Codes & string, Operation, Context>): OpenApi<Operation>;

export { openapi };
export type { OpenApi, OpenApiOptions, OpenApiResponse };

// @outreach/error-catalog/partner
import { Envelope } from './index.js';

/** What a body holds beside its error. */
interface PartnerContext {
    /** The value of the `X-Request-Id` response header. */
    readonly requestId: string;
}
/** `{ error: { type, code, message, details, doc_url, request_id } }`, where `details` is null unless given. */
declare const partnerEnvelope: Envelope<PartnerContext>;

export { partnerEnvelope };
export type { PartnerContext };

// @outreach/error-catalog/problem
import { Envelope } from './index.js';

/** What a body holds beside its error. */
interface ProblemContext {
    /** A URI reference of this occurrence, such as the path of the request (RFC 9457, 3.1.5). */
    readonly instance?: string | undefined;
    /** The id of the request: the member `request_id`. */
    readonly requestId?: string | undefined;
}
/**
 * `application/problem+json` (RFC 9457): `type` is the code's `docUrl`, and `code`, `request_id`, `retry_after` and the details are further members.
 *
 * A detail whose name is one of these stands in a member `details`, so that nothing is lost. `detail` is left out where it says what `title` says.
 */
declare const problemJson: Envelope<ProblemContext>;

export { problemJson };
export type { ProblemContext };

// @outreach/error-catalog/dist/CatalogError-gaD1IVcN.d.ts
import { S as StandardSchema, O as OutputOf, E as Envelope, I as InputOf } from './Envelope-CDjCxqP8.js';

/** What counts of a response beside its body; a Fetch `Response` has it. */
interface ResponseHead {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null | undefined;
    };
}
/** An error as a client reads it: a case for each code of the catalog, and a last one with a null code. */
type ParsedError<Codes extends ErrorCodes, Context extends object = object> = ({
    [Code in keyof Codes & string]: KnownError<Code, Codes[Code]>;
}[keyof Codes & string] | UnknownError) & Wait & Readonly<Partial<Context>>;
/** Whether and when the same request may be sent again; in seconds. */
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
/** A code that the catalog lacks, or whose details do not fit its schema, or a body that holds no error. */
interface UnknownError {
    readonly code: null;
    /** The code as it came; null when the body holds none. */
    readonly unknownCode: string | null;
    readonly type: string | null;
    readonly status: number | null;
    readonly message: string | null;
    readonly details: Readonly<Record<string, unknown>> | null;
    readonly docUrl: string | null;
}

/** Whether the same request may be sent again: never, once `Retry-After` has passed, or with exponential backoff. */
type Retry = "no" | "after" | "backoff";
/** The types of a catalog by name: what callers branch on, also for codes that they do not know yet. */
type ErrorTypes = Readonly<Record<string, {
    readonly retry: Retry;
}>>;
/** One row of a catalog's table of codes. */
interface ErrorCode<Type extends string = string> {
    readonly type: Type;
    /** HTTP status of the response, 400–599. */
    readonly status: number;
    /** What the code means, in a sentence; the message of an occurrence that has none of its own. */
    readonly title: string;
    /** When it comes, in Markdown, for the page of codes. Default: the title. */
    readonly description?: string;
    /** What a caller does about it, in Markdown, for the page of codes. */
    readonly advice?: string;
    /** Headers of each response with it, such as `WWW-Authenticate`. */
    readonly headers?: Readonly<Record<string, string>>;
    /** The schema of its details. Without one, details are optional and free-form. */
    readonly details?: StandardSchema;
    /** Details for its example in OpenAPI. */
    readonly example?: object;
}
/** The codes of a catalog by name; each has one of the catalog's types. */
type ErrorCodes<Type extends string = string> = Readonly<Record<string, ErrorCode<Type>>>;
/** What a catalog is made of. */
interface CatalogOptions<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object> {
    readonly types: Types;
    readonly codes: Codes;
    /** The form of the bodies: `problemJson`, `partnerEnvelope` or your own. */
    readonly envelope: Envelope<Context>;
    /** The address of a code in your documentation. */
    readonly docUrl: (code: string) => string;
    /** The code of everything that is thrown and is not of this catalog. */
    readonly unknown: keyof Codes & string;
    /** Holds details against their schema whenever an error is made, as in development. Default: false, because the compiler does. */
    readonly checkDetails?: boolean;
}
/** A catalog: its two tables, and functions that work detached from the object. */
interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object = object> {
    readonly types: Types;
    readonly codes: Codes;
    readonly envelope: Envelope<Context>;
    readonly docUrl: (code: string) => string;
    /** Creates an error to throw; throws `RangeError` on a code that the catalog lacks. */
    readonly error: <Code extends keyof Codes & string>(code: Code, ...options: Arguments<Occurrence<Types, Codes[Code]>>) => CatalogErrors<Codes, Context, Code>;
    /** Reports whether a value is an error of this catalog, also when another copy of the package made it. */
    readonly is: (caught: unknown) => caught is CatalogErrors<Codes, Context>;
    /** Returns an error of this catalog as it is; for anything else the error of `unknown`, with it as its `cause`. */
    readonly from: (caught: unknown) => CatalogErrors<Codes, Context>;
    /** Builds the response for what was caught; nothing of what is not of this catalog gets into it. */
    readonly respond: (caught: unknown, ...context: Arguments<Context>) => ErrorResponse;
    /** Builds a body without an error, whose stack trace takes most of the time; throws `RangeError` on a code that the catalog lacks. */
    readonly body: <Code extends keyof Codes & string>(code: Code, options: Omit<Occurrence<Types, Codes[Code]>, "headers" | "cause"> & Context) => object;
    /**
     * Reads the body of an error response, as JSON or as text, whatever it is; the response's status and `Retry-After` count too.
     *
     * The last case, with a null code, is a code that the catalog lacks, or whose details do not fit its schema.
     */
    readonly parse: (body: unknown, response?: ResponseHead) => ParsedError<Codes, Context>;
    /** Reports whether an error of this type may be retried; "no" for a type that the catalog lacks. */
    readonly retry: (type: string) => Retry;
}
/** A response, for what does not speak Fetch. */
interface ErrorResponse {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: object;
}

/** An error of a catalog, to throw. */
interface CatalogError<Code extends string = string, Type extends string = string, Details = object | null, Context extends object = object> extends Error {
    readonly name: "CatalogError";
    readonly code: Code;
    readonly type: Type;
    readonly status: number;
    readonly retry: Retry;
    readonly details: Details;
    /** Seconds; null when the caller is not told to wait. */
    readonly retryAfter: number | null;
    /** Of the response, `Retry-After` among them, without the type of its content. */
    readonly headers: Readonly<Record<string, string>>;
    /** Builds the body of the response. */
    readonly toBody: (...context: Arguments<Context>) => object;
    /** Builds the whole response, for what speaks Fetch. */
    readonly toResponse: (...context: Arguments<Context>) => FetchResponse;
}
/** The errors of a catalog as a union, or of one of its codes. */
type CatalogErrors<Codes extends ErrorCodes, Context extends object, Code extends keyof Codes = keyof Codes> = {
    [Name in Code & string]: CatalogError<Name, Codes[Name]["type"], DetailsOf<Codes[Name]>, Context>;
}[Code & string];
/** What one occurrence adds to its code; `details` is required where the code has a schema, `retryAfter` where its type is retried after it. */
type Occurrence<Types extends ErrorTypes, Row extends ErrorCode> = {
    /** What happened, for a human; never a secret. Default: the code's title. */
    readonly message?: string | undefined;
    /** Response headers. Characters that no header may hold, such as line breaks, become spaces. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** For your log: it never reaches a body. */
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
type RetryAfterOption<Kind extends Retry> = "after" extends Kind ? {
    readonly retryAfter: number;
} : {
    /** Seconds until the same request may be sent again, for `Retry-After`. */ readonly retryAfter?: number | undefined;
};
/** An argument that may be left out where nothing in it is required. */
type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];
/** A Fetch `Response`, where the types of the platform have one. */
type FetchResponse = typeof globalThis extends {
    readonly Response: {
        readonly prototype: infer Response;
    };
} ? Response : object;

export type { CatalogOptions as C, ErrorTypes as E, Occurrence as O, ParsedError as P, ResponseHead as R, ErrorCodes as a, ErrorCatalog as b, CatalogError as c, CatalogErrors as d, ErrorCode as e, ErrorResponse as f, Retry as g };

// @outreach/error-catalog/dist/Envelope-CDjCxqP8.d.ts
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
        /** What OpenAPI needs of it: the libraries that follow Standard JSON Schema have it. */
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
/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 holds it. */
type JsonSchema = Readonly<Record<string, unknown>>;
/** What is written of the values of a schema. */
type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];
/** What is read of the values of a schema. */
type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

/** One occurrence of an error, as an envelope writes it. */
interface WrittenError {
    readonly code: string;
    readonly type: string;
    readonly status: number;
    /** What the code means, the same in each occurrence. */
    readonly title: string;
    /** What happened this time; the title unless given. */
    readonly message: string;
    readonly details: object | null;
    readonly docUrl: string;
    /** Seconds; null when the caller is not told to wait. */
    readonly retryAfter: number | null;
}
/** What an envelope finds in a body; each member is checked by the catalog, and a missing one is welcome. */
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
 * The form of an error's body. `Context` is what a body holds beside its error, such as the id of the request.
 *
 * Write your own for a form that is not built in.
 */
interface Envelope<Context extends object = object> {
    readonly contentType: string;
    readonly write: (error: WrittenError, context: Context) => object;
    /** Finds the error in a JSON object that anybody may have written; undefined where there is none. */
    readonly read: (body: Readonly<Record<string, unknown>>) => ReadError<Context> | undefined;
    /** The JSON Schema of a code's body; `details` is that of its details. */
    readonly schema: (error: Pick<WrittenError, "code" | "type" | "status" | "docUrl">, details: JsonSchema | undefined) => JsonSchema;
}

export type { Envelope as E, InputOf as I, JsonSchema as J, OutputOf as O, ReadError as R, StandardSchema as S, WrittenError as W };
