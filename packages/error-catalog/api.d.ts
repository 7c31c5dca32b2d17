/** The kind of value a detail holds, named as `typeof` names it. */
type DetailKind = "string" | "number" | "boolean";
/** One row of a catalog's table of codes. */
interface ErrorCodeDefinition<Type extends string = string> {
    /** The error type that callers branch on. */
    readonly type: Type;
    /** HTTP status of the response, 400–599. */
    readonly status: number;
    /** When the code is answered, in Markdown, for the published guide. */
    readonly condition: string;
    /** Keys that `details` must hold for this code, beside any others; without it `details` is optional. */
    readonly details?: Readonly<Record<string, DetailKind>>;
}
/** Free-form details of an error. */
type ErrorDetails = Readonly<Record<string, unknown>>;
interface DetailValues {
    readonly string: string;
    readonly number: number;
    readonly boolean: boolean;
}
type RequiredDetails<Shape extends Readonly<Record<string, DetailKind>>> = ErrorDetails & {
    readonly [Key in keyof Shape]: DetailValues[Shape[Key]];
};
type DetailsOption<Definition> = Definition extends {
    readonly details: infer Shape extends Record<string, DetailKind>;
} ? {
    readonly details: RequiredDetails<Shape>;
} : {
    readonly details?: ErrorDetails | null | undefined;
};
type EveryDetailsOption<Definition> = (Definition extends unknown ? (option: DetailsOption<Definition>) => void : never) extends (option: infer Option) => void ? Option : never;
/** What one occurrence of an error adds to its code; `details` is required where the code's definition names its keys. */
type EnvelopeOptions<Definition extends ErrorCodeDefinition> = EveryDetailsOption<Definition> & {
    /** Text for a human; never a secret, an e-mail address or the caller's body. */
    readonly message: string;
    /** The value of the `X-Request-Id` response header. */
    readonly requestId: string;
    /** Address of the published guides, with or without a trailing slash. */
    readonly docsUrl: string;
};
/** The body of an error response. */
interface ErrorEnvelope<Code extends string, Definition extends ErrorCodeDefinition> {
    readonly error: {
        readonly type: Definition["type"];
        readonly code: Code;
        readonly message: string;
        readonly details: Definition extends {
            readonly details: infer Shape extends Record<string, DetailKind>;
        } ? RequiredDetails<Shape> : ErrorDetails | null;
        readonly doc_url: string;
        readonly request_id: string;
    };
}

/** Whether a caller may send the same request again: never, once `Retry-After` has passed, or with exponential backoff. */
type Retryability = "no" | "after_retry_after" | "backoff";
/** One row of a catalog's table of types. */
interface ErrorTypeDefinition {
    readonly retryable: Retryability;
}
/** The types of a catalog, by name. */
type ErrorTypes = Readonly<Record<string, ErrorTypeDefinition>>;
/** The codes of a catalog, by name; each has one of the catalog's types. */
type ErrorCodes<Types extends ErrorTypes> = Readonly<Record<string, ErrorCodeDefinition<keyof Types & string>>>;
type EnvelopeOf<Codes extends Readonly<Record<string, ErrorCodeDefinition>>, Code> = Code extends keyof Codes & string ? ErrorEnvelope<Code, Codes[Code]> : never;
/** A catalog: its two tables, and functions bound to them that work detached from the object. */
interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes<Types>> {
    readonly types: Types;
    readonly codes: Codes;
    /** Builds the body of an error response; throws `RangeError` on a code that the catalog lacks. */
    readonly envelope: <Code extends keyof Codes & string>(code: Code, options: EnvelopeOptions<Codes[Code]>) => EnvelopeOf<Codes, Code>;
    /** Looks up the HTTP status of a code; throws `RangeError` on a code that the catalog lacks. */
    readonly httpStatus: <Code extends keyof Codes & string>(code: Code) => Codes[Code]["status"];
    /** Reports whether an error of this type may be retried; "no" for a type that the catalog lacks. */
    readonly retryability: (type: string) => Retryability;
}
/**
 * Creates a catalog from its tables of types and codes.
 *
 * Throws `TypeError` on a code whose type is not among the types or whose status is outside 400–599.
 */
declare function defineCatalog<const Types extends ErrorTypes, const Codes extends ErrorCodes<Types>>(tables: {
    readonly types: Types;
    readonly codes: Codes;
}): ErrorCatalog<Types, Codes>;

/** The codes of the legacy envelope, each with its HTTP status and condition. */
declare const legacyCodes: {
    readonly VALIDATION_ERROR: {
        readonly status: 400;
        readonly condition: "the submitted survey or query is not valid; `errors` says where";
    };
    readonly UNAUTHORIZED: {
        readonly status: 401;
        readonly condition: "bearer missing, malformed, expired or revoked";
    };
    readonly METHOD_NOT_ALLOWED: {
        readonly status: 405;
        readonly condition: "the path does not serve the method; `Allow` names those that it serves";
    };
    readonly RATE_LIMITED: {
        readonly status: 429;
        readonly condition: "key exceeded its rate limit; `Retry-After` present";
    };
    readonly INTERNAL_ERROR: {
        readonly status: 500;
        readonly condition: "unexpected server error";
    };
    readonly NOT_IMPLEMENTED: {
        readonly status: 501;
        readonly condition: "the endpoint is a draft and is not served";
    };
    readonly SERVICE_UNAVAILABLE: {
        readonly status: 503;
        readonly condition: "the service cannot answer for the moment";
    };
};
/** A code of the legacy envelope. */
type LegacyErrorCode = keyof typeof legacyCodes;
/** One fault in a submitted survey. */
interface LegacyErrorItem {
    readonly code: string;
    /** Location in the submitted survey. */
    readonly path: string;
    readonly message: string;
}
/** The body of an error response of the survey and upload endpoints. */
interface LegacyEnvelope<Code extends LegacyErrorCode = LegacyErrorCode> {
    readonly error: {
        readonly code: Code;
        readonly message: string;
        readonly errors?: readonly LegacyErrorItem[];
    };
}
/** Builds a legacy error body; `errors` is absent unless given. Source: Outreach Partner API specification, Errors, Legacy envelope. */
declare function legacyEnvelope<Code extends LegacyErrorCode>(code: Code, message: string, errors?: readonly LegacyErrorItem[]): LegacyEnvelope<Code>;

declare const types: {
    readonly authentication_error: {
        readonly retryable: "no";
    };
    readonly invalid_request_error: {
        readonly retryable: "no";
    };
    readonly permission_error: {
        readonly retryable: "no";
    };
    readonly rate_limit_error: {
        readonly retryable: "after_retry_after";
    };
    readonly idempotency_error: {
        readonly retryable: "no";
    };
    readonly api_error: {
        readonly retryable: "backoff";
    };
};
declare const codes: {
    readonly UNAUTHORIZED: {
        readonly type: "authentication_error";
        readonly status: 401;
        readonly condition: "bearer missing, malformed, expired or revoked";
    };
    readonly INSUFFICIENT_SCOPE: {
        readonly type: "permission_error";
        readonly status: 403;
        readonly condition: "token lacks the required scope";
    };
    readonly INVALID_TOKEN: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "URL token does not match `[0-9A-Za-z]{6}`";
    };
    readonly INVALID_CAMPAIGN_ID: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "campaign id is not the `cmp_<hex>` form";
    };
    readonly TOKEN_NOT_FOUND: {
        readonly type: "invalid_request_error";
        readonly status: 404;
        readonly condition: "no record for the token";
    };
    readonly MISSING_PARAMETER: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "a required query or body parameter is missing";
        readonly details: {
            readonly parameter: "string";
        };
    };
    readonly INVALID_PARAMETER: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "parameter present but wrong type, format or value";
        readonly details: {
            readonly parameter: "string";
        };
    };
    readonly INVALID_EXPAND: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "value in `expand[]` not allowed for the endpoint";
    };
    readonly INVALID_TYPE_FILTER: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly condition: "value in `type` or `types[]` outside the allowed enum";
    };
    readonly IDEMPOTENCY_KEY_REUSED: {
        readonly type: "idempotency_error";
        readonly status: 409;
        readonly condition: "same `Idempotency-Key` with a different body";
    };
    readonly RATE_LIMITED: {
        readonly type: "rate_limit_error";
        readonly status: 429;
        readonly condition: "key exceeded its rate limit; `Retry-After` present";
    };
    readonly INTERNAL_ERROR: {
        readonly type: "api_error";
        readonly status: 500;
        readonly condition: "unexpected server error";
    };
    readonly NOT_FOUND: {
        readonly type: "invalid_request_error";
        readonly status: 404;
        readonly condition: "no such path";
    };
    readonly METHOD_NOT_ALLOWED: {
        readonly type: "invalid_request_error";
        readonly status: 405;
        readonly condition: "the path does not answer this method; `Allow` names those it does";
    };
    readonly NOT_ACCEPTABLE: {
        readonly type: "invalid_request_error";
        readonly status: 406;
        readonly condition: "`Accept` admits nothing that the endpoint can answer with";
    };
    readonly PAYLOAD_TOO_LARGE: {
        readonly type: "invalid_request_error";
        readonly status: 413;
        readonly condition: "request body is larger than the endpoint takes";
    };
    readonly UNSUPPORTED_MEDIA_TYPE: {
        readonly type: "invalid_request_error";
        readonly status: 415;
        readonly condition: "request body has a `Content-Encoding`, which the endpoint does not take";
    };
    readonly IDEMPOTENCY_KEY_IN_USE: {
        readonly type: "idempotency_error";
        readonly status: 409;
        readonly condition: "the first request with the same `Idempotency-Key` is still running";
    };
    readonly INVALID_SIGNATURE: {
        readonly type: "authentication_error";
        readonly status: 401;
        readonly condition: "webhook `X-Signature` missing, malformed, outside the replay window or matching no active secret";
    };
    readonly SERVICE_UNAVAILABLE: {
        readonly type: "api_error";
        readonly status: 503;
        readonly condition: "the service cannot answer for the moment";
    };
};
/** An error type of the Outreach Partner API. */
type PartnerErrorType = keyof typeof types;
/** An error code of the Outreach Partner API. */
type PartnerErrorCode = keyof typeof codes;
/** The error catalog of the Outreach Partner API. Source: its specification, Errors, Partner envelope. */
declare const partnerCatalog: ErrorCatalog<typeof types, typeof codes>;

export { defineCatalog, legacyCodes, legacyEnvelope, partnerCatalog };
export type { DetailKind, EnvelopeOptions, ErrorCatalog, ErrorCodeDefinition, ErrorCodes, ErrorDetails, ErrorEnvelope, ErrorTypeDefinition, ErrorTypes, LegacyEnvelope, LegacyErrorCode, LegacyErrorItem, PartnerErrorCode, PartnerErrorType, Retryability };
