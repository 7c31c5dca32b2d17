// @outreach/contract
import * as z from 'zod';
import { PartnerErrorCode, LegacyErrorCode } from '@outreach/error-catalog';
import { Scope, EventType } from './names.js';
export { BOUNCE_REASONS, BounceReason, EVENT_DIRECTIONS, EventTypeOf, FEED_EVENT_TYPES, FeedEventType, SCOPES } from './names.js';

/** A campaign, in short. */
declare const CampaignSummary: z.ZodObject<{
    object: z.ZodLiteral<"campaign">;
    livemode: z.ZodBoolean;
    id: z.ZodString;
    name: z.ZodString;
    program_id: z.ZodString;
    status: z.ZodString;
}, z.core.$strip>;
/** A campaign, in short. */
type CampaignSummary = z.infer<typeof CampaignSummary>;
/** A program, in short. */
declare const ProgramSummary: z.ZodObject<{
    object: z.ZodLiteral<"program">;
    livemode: z.ZodBoolean;
    id: z.ZodString;
    slug: z.ZodString;
    name: z.ZodString;
    status: z.ZodString;
}, z.core.$strip>;
/** A program, in short. */
type ProgramSummary = z.infer<typeof ProgramSummary>;

/** How a caller proves who it is: not at all, a bearer, a bearer with a scope, or a webhook signature. */
type Auth = {
    readonly kind: "none";
} | {
    readonly kind: "bearer";
} | {
    readonly kind: "scope";
    readonly scope: Scope;
} | {
    readonly kind: "signature";
};
/** A request header that an operation reads beside its credential. */
type RequestHeader = "If-None-Match" | "Idempotency-Key";
/** A response header that an operation sets beside those that every response carries. */
type ResponseHeader = "ETag" | "Cache-Control";
/** A JSON request body and the most bytes that are read of it. */
interface RequestBody {
    readonly schema: z.ZodType;
    readonly maxBytes: number;
}
/** A successful response; `body` is null where there is none. */
interface ResponseRow {
    readonly description: string;
    readonly body: z.ZodType | null;
    readonly headers: readonly ResponseHeader[];
}
/** The code that a bad value of a parameter answers, where it is not `INVALID_PARAMETER`. */
type ParameterCodes = Readonly<Record<string, PartnerErrorCode>>;
interface Row {
    readonly operationId: string;
    readonly method: "GET" | "POST";
    readonly path: `/v1/${string}`;
    readonly tag: "Health" | "Tokens" | "Events" | "Campaigns" | "Digest" | "Webhooks" | "Drafts";
    readonly summary: string;
    readonly description: string;
    readonly auth: Auth;
    /** True for what is published but not served. */
    readonly draft: boolean;
    /** Path parameters; takes each as percent-decoded text. */
    readonly pathParameters: z.ZodObject;
    /** Query parameters by wire name; takes what `rawQuery` gives, and refuses names it does not know. */
    readonly query: z.ZodObject;
    readonly parameterCodes: ParameterCodes;
    readonly headers: readonly RequestHeader[];
    readonly body: RequestBody | null;
    readonly responses: Readonly<Record<number, ResponseRow>>;
}
/** One row of the contract: all that is known of an operation before any code serves it. */
type Operation = Row & ({
    readonly envelope: "partner";
    readonly errors: readonly PartnerErrorCode[];
} | {
    readonly envelope: "legacy";
    readonly errors: readonly LegacyErrorCode[];
});
/** What an operation is asked, decoded. */
interface RequestOf<Op extends Operation> {
    readonly path: z.output<Op["pathParameters"]>;
    readonly query: z.output<Op["query"]>;
    readonly body: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.output<Schema> : undefined;
}
/** What a caller asks of an operation: values as they are decoded; what has a default may be left out. */
interface CallOf<Op extends Operation> {
    readonly path: z.output<Op["pathParameters"]>;
    readonly query: {
        readonly [Name in keyof z.input<Op["query"]>]: Name extends keyof z.output<Op["query"]> ? z.output<Op["query"]>[Name] : never;
    };
    readonly body: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.input<Schema> : undefined;
}
/** What an operation answers on success: one of its statuses, with that status's body and headers. */
type ResponseOf<Op extends Operation> = {
    [Status in keyof Op["responses"] & number]: Op["responses"][Status] extends {
        readonly body: infer Body;
        readonly headers: readonly (infer Header)[];
    } ? {
        readonly status: Status;
        readonly body: Body extends z.ZodType ? z.output<Body> : null;
        readonly headers: Readonly<Record<Header & string, string>>;
    } : never;
}[keyof Op["responses"] & number];
/** The error codes that an operation can answer. */
type ErrorCodeOf<Op extends Operation> = Op["errors"][number];

/** Why an input was refused: the code to answer, the parameter it is about, and a sentence that quotes no value. */
interface Refusal {
    readonly code: PartnerErrorCode;
    readonly parameter: string;
    readonly message: string;
}
/** A decoded value, or why there is none. */
type Decoded<Value> = {
    readonly ok: true;
    readonly value: Value;
} | {
    readonly ok: false;
    readonly refusal: Refusal;
};
/** Query parameters as text: a list for a name that ends in `[]` or was given more than once. */
type RawQuery = Readonly<Record<string, string | readonly string[]>>;
/** Gathers percent-decoded query pairs, such as a `URLSearchParams`, into what an operation's `query` takes. */
declare function rawQuery(pairs: Iterable<readonly [string, string]>): RawQuery;
/**
 * Decodes path parameters, a query or a body by its schema.
 *
 * The first fault decides: `MISSING_PARAMETER` for what is absent, else the parameter's own code among `codes`, else
 * `INVALID_PARAMETER`. `parameter` is the wire name, or a dotted path within a body; it is "body" for the body itself.
 */
declare function decode<Schema extends z.ZodType>(schema: Schema, input: unknown, codes?: ParameterCodes): Decoded<z.output<Schema>>;

/** Clinicians counted by stage of qualification. */
declare const FunnelCounts: z.ZodObject<{
    account_created: z.ZodInt;
    learner_qualified: z.ZodInt;
    completer_qualified: z.ZodInt;
}, z.core.$strip>;
/** Clinicians counted by stage of qualification. */
type FunnelCounts = z.infer<typeof FunnelCounts>;
/** What outreach did on one date. */
declare const OutreachCounts: z.ZodObject<{
    without_suspected_bots: z.ZodObject<{
        opened: z.ZodInt;
        clicked: z.ZodInt;
        unique_opened: z.ZodInt;
        unique_clicked: z.ZodInt;
    }, z.core.$strip>;
    opened: z.ZodInt;
    clicked: z.ZodInt;
    unique_opened: z.ZodInt;
    unique_clicked: z.ZodInt;
    recipients_published: z.ZodInt;
    sent: z.ZodInt;
    bounced: z.ZodInt;
}, z.core.$strip>;
/** What outreach did on one date. */
type OutreachCounts = z.infer<typeof OutreachCounts>;
/** How far one stage of a program is from its target. */
declare const QuotaStatus: z.ZodObject<{
    target: z.ZodNullable<z.ZodInt>;
    count: z.ZodInt;
    remaining: z.ZodNullable<z.ZodInt>;
    reached_at: z.ZodNullable<z.ZodISODateTime>;
}, z.core.$strip>;
/** How far one stage of a program is from its target. */
type QuotaStatus = z.infer<typeof QuotaStatus>;
/** One program's day. */
declare const DigestRecord: z.ZodObject<{
    object: z.ZodLiteral<"digest_record">;
    livemode: z.ZodBoolean;
    date: z.ZodISODate;
    program: z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>;
    funnel: z.ZodObject<{
        date: z.ZodObject<{
            account_created: z.ZodInt;
            learner_qualified: z.ZodInt;
            completer_qualified: z.ZodInt;
        }, z.core.$strip>;
        cumulative: z.ZodObject<{
            account_created: z.ZodInt;
            learner_qualified: z.ZodInt;
            completer_qualified: z.ZodInt;
        }, z.core.$strip>;
    }, z.core.$strip>;
    outreach: z.ZodObject<{
        without_suspected_bots: z.ZodObject<{
            opened: z.ZodInt;
            clicked: z.ZodInt;
            unique_opened: z.ZodInt;
            unique_clicked: z.ZodInt;
        }, z.core.$strip>;
        opened: z.ZodInt;
        clicked: z.ZodInt;
        unique_opened: z.ZodInt;
        unique_clicked: z.ZodInt;
        recipients_published: z.ZodInt;
        sent: z.ZodInt;
        bounced: z.ZodInt;
    }, z.core.$strip>;
    quota: z.ZodObject<{
        learner_qualified: z.ZodObject<{
            target: z.ZodNullable<z.ZodInt>;
            count: z.ZodInt;
            remaining: z.ZodNullable<z.ZodInt>;
            reached_at: z.ZodNullable<z.ZodISODateTime>;
        }, z.core.$strip>;
        completer_qualified: z.ZodObject<{
            target: z.ZodNullable<z.ZodInt>;
            count: z.ZodInt;
            remaining: z.ZodNullable<z.ZodInt>;
            reached_at: z.ZodNullable<z.ZodISODateTime>;
        }, z.core.$strip>;
    }, z.core.$strip>;
}, z.core.$strip>;
/** One program's day. */
type DigestRecord = z.infer<typeof DigestRecord>;
/** One UTC day of every partner-bound program of an organization. */
declare const Digest: z.ZodObject<{
    object: z.ZodLiteral<"digest">;
    livemode: z.ZodBoolean;
    date: z.ZodISODate;
    data: z.ZodArray<z.ZodObject<{
        object: z.ZodLiteral<"digest_record">;
        livemode: z.ZodBoolean;
        date: z.ZodISODate;
        program: z.ZodObject<{
            object: z.ZodLiteral<"program">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            slug: z.ZodString;
            name: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>;
        funnel: z.ZodObject<{
            date: z.ZodObject<{
                account_created: z.ZodInt;
                learner_qualified: z.ZodInt;
                completer_qualified: z.ZodInt;
            }, z.core.$strip>;
            cumulative: z.ZodObject<{
                account_created: z.ZodInt;
                learner_qualified: z.ZodInt;
                completer_qualified: z.ZodInt;
            }, z.core.$strip>;
        }, z.core.$strip>;
        outreach: z.ZodObject<{
            without_suspected_bots: z.ZodObject<{
                opened: z.ZodInt;
                clicked: z.ZodInt;
                unique_opened: z.ZodInt;
                unique_clicked: z.ZodInt;
            }, z.core.$strip>;
            opened: z.ZodInt;
            clicked: z.ZodInt;
            unique_opened: z.ZodInt;
            unique_clicked: z.ZodInt;
            recipients_published: z.ZodInt;
            sent: z.ZodInt;
            bounced: z.ZodInt;
        }, z.core.$strip>;
        quota: z.ZodObject<{
            learner_qualified: z.ZodObject<{
                target: z.ZodNullable<z.ZodInt>;
                count: z.ZodInt;
                remaining: z.ZodNullable<z.ZodInt>;
                reached_at: z.ZodNullable<z.ZodISODateTime>;
            }, z.core.$strip>;
            completer_qualified: z.ZodObject<{
                target: z.ZodNullable<z.ZodInt>;
                count: z.ZodInt;
                remaining: z.ZodNullable<z.ZodInt>;
                reached_at: z.ZodNullable<z.ZodISODateTime>;
            }, z.core.$strip>;
        }, z.core.$strip>;
    }, z.core.$strip>>;
}, z.core.$strip>;
/** One UTC day of every partner-bound program of an organization. */
type Digest = z.infer<typeof Digest>;

/** The body of every error response of the partner endpoints. */
declare const PartnerError: z.ZodObject<{
    error: z.ZodObject<{
        type: z.ZodEnum<{
            authentication_error: "authentication_error";
            invalid_request_error: "invalid_request_error";
            permission_error: "permission_error";
            rate_limit_error: "rate_limit_error";
            idempotency_error: "idempotency_error";
            api_error: "api_error";
        }>;
        code: z.ZodEnum<{
            UNAUTHORIZED: "UNAUTHORIZED";
            INSUFFICIENT_SCOPE: "INSUFFICIENT_SCOPE";
            INVALID_TOKEN: "INVALID_TOKEN";
            INVALID_CAMPAIGN_ID: "INVALID_CAMPAIGN_ID";
            TOKEN_NOT_FOUND: "TOKEN_NOT_FOUND";
            MISSING_PARAMETER: "MISSING_PARAMETER";
            INVALID_PARAMETER: "INVALID_PARAMETER";
            INVALID_EXPAND: "INVALID_EXPAND";
            INVALID_TYPE_FILTER: "INVALID_TYPE_FILTER";
            IDEMPOTENCY_KEY_REUSED: "IDEMPOTENCY_KEY_REUSED";
            RATE_LIMITED: "RATE_LIMITED";
            INTERNAL_ERROR: "INTERNAL_ERROR";
            NOT_FOUND: "NOT_FOUND";
            METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED";
            NOT_ACCEPTABLE: "NOT_ACCEPTABLE";
            PAYLOAD_TOO_LARGE: "PAYLOAD_TOO_LARGE";
            UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE";
            IDEMPOTENCY_KEY_IN_USE: "IDEMPOTENCY_KEY_IN_USE";
            INVALID_SIGNATURE: "INVALID_SIGNATURE";
            SERVICE_UNAVAILABLE: "SERVICE_UNAVAILABLE";
        }>;
        message: z.ZodString;
        details: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        doc_url: z.ZodURL;
        request_id: z.ZodString;
    }, z.core.$strip>;
}, z.core.$strip>;
/** The body of every error response of the partner endpoints. */
type PartnerError = z.infer<typeof PartnerError>;
/** The body of every error response of the survey and upload endpoints. */
declare const LegacyError: z.ZodObject<{
    error: z.ZodObject<{
        code: z.ZodEnum<{
            UNAUTHORIZED: "UNAUTHORIZED";
            RATE_LIMITED: "RATE_LIMITED";
            INTERNAL_ERROR: "INTERNAL_ERROR";
            METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED";
            SERVICE_UNAVAILABLE: "SERVICE_UNAVAILABLE";
            VALIDATION_ERROR: "VALIDATION_ERROR";
            NOT_IMPLEMENTED: "NOT_IMPLEMENTED";
        }>;
        message: z.ZodString;
        errors: z.ZodOptional<z.ZodArray<z.ZodObject<{
            code: z.ZodString;
            path: z.ZodString;
            message: z.ZodString;
        }, z.core.$strip>>>;
    }, z.core.$strip>;
}, z.core.$strip>;
/** The body of every error response of the survey and upload endpoints. */
type LegacyError = z.infer<typeof LegacyError>;

/** One page of a list. */
interface List<Item> {
    object: "list";
    livemode: boolean;
    data: Item[];
    has_more: boolean;
    /** Opaque; null exactly when `has_more` is false. */
    next_cursor: string | null;
    /** The request's path and query. */
    url: string;
}
/** Creates the schema of one page of `item`; `id` names it in the OpenAPI document. */
declare function list<Item extends z.ZodType>(item: Item, id: string): z.ZodType<List<z.output<Item>>>;

/** The most recipients that one `outreach.recipients_published` event carries. */
declare const RECIPIENTS_PER_EVENT = 500;
/** Every event type, with its direction, the schema of its `data` (other keys pass) and that of its whole envelope. */
declare const EVENTS: {
    readonly "outreach.recipients_published": {
        readonly direction: "to_consumer";
        readonly description: string;
        readonly data: z.ZodObject<{
            service_campaign_id: z.ZodString;
            service_program_id: z.ZodString;
            service_campaign_name: z.ZodString;
            service_program_name: z.ZodString;
            consumer_program_slug: z.ZodString;
            scheduled_send_window_start: z.ZodISODateTime;
            scheduled_send_window_end: z.ZodISODateTime;
            recipients: z.ZodArray<z.ZodObject<{
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
            }, z.core.$strip>>;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"outreach.recipients_published">;
            occurred_at: z.ZodISODateTime;
            emitted_at: z.ZodISODateTime;
            source: z.ZodLiteral<"service">;
            data: z.ZodObject<{
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                service_campaign_name: z.ZodString;
                service_program_name: z.ZodString;
                consumer_program_slug: z.ZodString;
                scheduled_send_window_start: z.ZodISODateTime;
                scheduled_send_window_end: z.ZodISODateTime;
                recipients: z.ZodArray<z.ZodObject<{
                    token: z.ZodString;
                    npi: z.ZodString;
                    email: z.ZodEmail;
                    service_recipient_id: z.ZodString;
                }, z.core.$strip>>;
            }, z.core.$loose>;
            campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"campaign">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                name: z.ZodString;
                program_id: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"program">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                slug: z.ZodString;
                name: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"recipient_record">;
                livemode: z.ZodBoolean;
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                created_at: z.ZodISODateTime;
                updated_at: z.ZodNullable<z.ZodISODateTime>;
                sent_at: z.ZodNullable<z.ZodISODateTime>;
                bounced_at: z.ZodNullable<z.ZodISODateTime>;
                last_event_at: z.ZodNullable<z.ZodISODateTime>;
                campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"campaign">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    name: z.ZodString;
                    program_id: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
                program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"program">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    slug: z.ZodString;
                    name: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
            }, z.core.$strip>>>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "outreach.email_sent": {
        readonly direction: "to_consumer";
        readonly description: string;
        readonly data: z.ZodObject<{
            service_recipient_id: z.ZodString;
            service_campaign_id: z.ZodString;
            token: z.ZodString;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"outreach.email_sent">;
            occurred_at: z.ZodISODateTime;
            emitted_at: z.ZodISODateTime;
            source: z.ZodLiteral<"service">;
            data: z.ZodObject<{
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                token: z.ZodString;
            }, z.core.$loose>;
            campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"campaign">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                name: z.ZodString;
                program_id: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"program">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                slug: z.ZodString;
                name: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"recipient_record">;
                livemode: z.ZodBoolean;
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                created_at: z.ZodISODateTime;
                updated_at: z.ZodNullable<z.ZodISODateTime>;
                sent_at: z.ZodNullable<z.ZodISODateTime>;
                bounced_at: z.ZodNullable<z.ZodISODateTime>;
                last_event_at: z.ZodNullable<z.ZodISODateTime>;
                campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"campaign">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    name: z.ZodString;
                    program_id: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
                program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"program">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    slug: z.ZodString;
                    name: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
            }, z.core.$strip>>>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "outreach.email_bounced": {
        readonly direction: "to_consumer";
        readonly description: string;
        readonly data: z.ZodObject<{
            bounce_reason: z.ZodString;
            service_recipient_id: z.ZodString;
            service_campaign_id: z.ZodString;
            token: z.ZodString;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"outreach.email_bounced">;
            occurred_at: z.ZodISODateTime;
            emitted_at: z.ZodISODateTime;
            source: z.ZodLiteral<"service">;
            data: z.ZodObject<{
                bounce_reason: z.ZodString;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                token: z.ZodString;
            }, z.core.$loose>;
            campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"campaign">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                name: z.ZodString;
                program_id: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"program">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                slug: z.ZodString;
                name: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"recipient_record">;
                livemode: z.ZodBoolean;
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                created_at: z.ZodISODateTime;
                updated_at: z.ZodNullable<z.ZodISODateTime>;
                sent_at: z.ZodNullable<z.ZodISODateTime>;
                bounced_at: z.ZodNullable<z.ZodISODateTime>;
                last_event_at: z.ZodNullable<z.ZodISODateTime>;
                campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"campaign">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    name: z.ZodString;
                    program_id: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
                program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"program">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    slug: z.ZodString;
                    name: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
            }, z.core.$strip>>>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "outreach.email_opened": {
        readonly direction: "to_consumer";
        readonly description: string;
        readonly data: z.ZodObject<{
            opened_at: z.ZodISODateTime;
            service_campaign_id: z.ZodString;
            service_program_id: z.ZodString;
            token: z.ZodString;
            is_bot_suspected: z.ZodBoolean;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"outreach.email_opened">;
            occurred_at: z.ZodISODateTime;
            emitted_at: z.ZodISODateTime;
            source: z.ZodLiteral<"service">;
            data: z.ZodObject<{
                opened_at: z.ZodISODateTime;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                token: z.ZodString;
                is_bot_suspected: z.ZodBoolean;
            }, z.core.$loose>;
            campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"campaign">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                name: z.ZodString;
                program_id: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"program">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                slug: z.ZodString;
                name: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"recipient_record">;
                livemode: z.ZodBoolean;
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                created_at: z.ZodISODateTime;
                updated_at: z.ZodNullable<z.ZodISODateTime>;
                sent_at: z.ZodNullable<z.ZodISODateTime>;
                bounced_at: z.ZodNullable<z.ZodISODateTime>;
                last_event_at: z.ZodNullable<z.ZodISODateTime>;
                campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"campaign">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    name: z.ZodString;
                    program_id: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
                program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"program">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    slug: z.ZodString;
                    name: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
            }, z.core.$strip>>>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "outreach.email_clicked": {
        readonly direction: "to_consumer";
        readonly description: string;
        readonly data: z.ZodObject<{
            clicked_at: z.ZodISODateTime;
            service_campaign_id: z.ZodString;
            service_program_id: z.ZodString;
            token: z.ZodString;
            is_bot_suspected: z.ZodBoolean;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"outreach.email_clicked">;
            occurred_at: z.ZodISODateTime;
            emitted_at: z.ZodISODateTime;
            source: z.ZodLiteral<"service">;
            data: z.ZodObject<{
                clicked_at: z.ZodISODateTime;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                token: z.ZodString;
                is_bot_suspected: z.ZodBoolean;
            }, z.core.$loose>;
            campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"campaign">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                name: z.ZodString;
                program_id: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"program">;
                livemode: z.ZodBoolean;
                id: z.ZodString;
                slug: z.ZodString;
                name: z.ZodString;
                status: z.ZodString;
            }, z.core.$strip>>>;
            recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                object: z.ZodLiteral<"recipient_record">;
                livemode: z.ZodBoolean;
                token: z.ZodString;
                npi: z.ZodString;
                email: z.ZodEmail;
                service_recipient_id: z.ZodString;
                service_campaign_id: z.ZodString;
                service_program_id: z.ZodString;
                created_at: z.ZodISODateTime;
                updated_at: z.ZodNullable<z.ZodISODateTime>;
                sent_at: z.ZodNullable<z.ZodISODateTime>;
                bounced_at: z.ZodNullable<z.ZodISODateTime>;
                last_event_at: z.ZodNullable<z.ZodISODateTime>;
                campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"campaign">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    name: z.ZodString;
                    program_id: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
                program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                    object: z.ZodLiteral<"program">;
                    livemode: z.ZodBoolean;
                    id: z.ZodString;
                    slug: z.ZodString;
                    name: z.ZodString;
                    status: z.ZodString;
                }, z.core.$strip>>>;
            }, z.core.$strip>>>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "clinician.account_created": {
        readonly direction: "to_service";
        readonly description: string;
        readonly data: z.ZodObject<{
            npi: z.ZodString;
            email: z.ZodEmail;
            consumer_program_slug: z.ZodString;
            attribution: z.ZodOptional<z.ZodNullable<z.ZodString>>;
            token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"clinician.account_created">;
            occurred_at: z.ZodString;
            emitted_at: z.ZodString;
            source: z.ZodLiteral<"consumer">;
            data: z.ZodObject<{
                npi: z.ZodString;
                email: z.ZodEmail;
                consumer_program_slug: z.ZodString;
                attribution: z.ZodOptional<z.ZodNullable<z.ZodString>>;
                token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
            }, z.core.$loose>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "clinician.learner_qualified": {
        readonly direction: "to_service";
        readonly description: string;
        readonly data: z.ZodObject<{
            npi: z.ZodString;
            consumer_program_slug: z.ZodString;
            token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"clinician.learner_qualified">;
            occurred_at: z.ZodString;
            emitted_at: z.ZodString;
            source: z.ZodLiteral<"consumer">;
            data: z.ZodObject<{
                npi: z.ZodString;
                consumer_program_slug: z.ZodString;
                token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
            }, z.core.$loose>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
    readonly "clinician.completer_qualified": {
        readonly direction: "to_service";
        readonly description: string;
        readonly data: z.ZodObject<{
            npi: z.ZodString;
            consumer_program_slug: z.ZodString;
            token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        }, z.core.$loose>;
        readonly envelope: z.ZodObject<{
            event_type: z.ZodLiteral<"clinician.completer_qualified">;
            occurred_at: z.ZodString;
            emitted_at: z.ZodString;
            source: z.ZodLiteral<"consumer">;
            data: z.ZodObject<{
                npi: z.ZodString;
                consumer_program_slug: z.ZodString;
                token: z.ZodOptional<z.ZodNullable<z.ZodString>>;
            }, z.core.$loose>;
            object: z.ZodLiteral<"event">;
            livemode: z.ZodBoolean;
            event_id: z.ZodString;
            event_version: z.ZodInt32;
            metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
        }, z.core.$strip>;
    };
};
/** The `data` of an event, by its type. */
type EventData<Type extends EventType> = z.infer<(typeof EVENTS)[Type]["data"]>;
/** An event as it travels, by its type. */
type EventEnvelope<Type extends EventType = EventType> = {
    [T in Type]: z.infer<(typeof EVENTS)[T]["envelope"]>;
}[Type];
/** An event of any type in the catalogue, as it travels. */
declare const EventEnvelope: z.ZodType<EventEnvelope>;
/** An event of the pull feed. */
declare const FeedEvent: z.ZodDiscriminatedUnion<[z.ZodObject<{
    event_type: z.ZodLiteral<"outreach.email_sent">;
    occurred_at: z.ZodISODateTime;
    emitted_at: z.ZodISODateTime;
    source: z.ZodLiteral<"service">;
    data: z.ZodObject<{
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        token: z.ZodString;
    }, z.core.$loose>;
    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"campaign">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        name: z.ZodString;
        program_id: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"recipient_record">;
        livemode: z.ZodBoolean;
        token: z.ZodString;
        npi: z.ZodString;
        email: z.ZodEmail;
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        created_at: z.ZodISODateTime;
        updated_at: z.ZodNullable<z.ZodISODateTime>;
        sent_at: z.ZodNullable<z.ZodISODateTime>;
        bounced_at: z.ZodNullable<z.ZodISODateTime>;
        last_event_at: z.ZodNullable<z.ZodISODateTime>;
        campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"campaign">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            name: z.ZodString;
            program_id: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
        program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"program">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            slug: z.ZodString;
            name: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
    }, z.core.$strip>>>;
    object: z.ZodLiteral<"event">;
    livemode: z.ZodBoolean;
    event_id: z.ZodString;
    event_version: z.ZodInt32;
    metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
}, z.core.$strip>, z.ZodObject<{
    event_type: z.ZodLiteral<"outreach.email_bounced">;
    occurred_at: z.ZodISODateTime;
    emitted_at: z.ZodISODateTime;
    source: z.ZodLiteral<"service">;
    data: z.ZodObject<{
        bounce_reason: z.ZodString;
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        token: z.ZodString;
    }, z.core.$loose>;
    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"campaign">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        name: z.ZodString;
        program_id: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"recipient_record">;
        livemode: z.ZodBoolean;
        token: z.ZodString;
        npi: z.ZodString;
        email: z.ZodEmail;
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        created_at: z.ZodISODateTime;
        updated_at: z.ZodNullable<z.ZodISODateTime>;
        sent_at: z.ZodNullable<z.ZodISODateTime>;
        bounced_at: z.ZodNullable<z.ZodISODateTime>;
        last_event_at: z.ZodNullable<z.ZodISODateTime>;
        campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"campaign">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            name: z.ZodString;
            program_id: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
        program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"program">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            slug: z.ZodString;
            name: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
    }, z.core.$strip>>>;
    object: z.ZodLiteral<"event">;
    livemode: z.ZodBoolean;
    event_id: z.ZodString;
    event_version: z.ZodInt32;
    metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
}, z.core.$strip>, z.ZodObject<{
    event_type: z.ZodLiteral<"outreach.email_opened">;
    occurred_at: z.ZodISODateTime;
    emitted_at: z.ZodISODateTime;
    source: z.ZodLiteral<"service">;
    data: z.ZodObject<{
        opened_at: z.ZodISODateTime;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        token: z.ZodString;
        is_bot_suspected: z.ZodBoolean;
    }, z.core.$loose>;
    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"campaign">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        name: z.ZodString;
        program_id: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"recipient_record">;
        livemode: z.ZodBoolean;
        token: z.ZodString;
        npi: z.ZodString;
        email: z.ZodEmail;
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        created_at: z.ZodISODateTime;
        updated_at: z.ZodNullable<z.ZodISODateTime>;
        sent_at: z.ZodNullable<z.ZodISODateTime>;
        bounced_at: z.ZodNullable<z.ZodISODateTime>;
        last_event_at: z.ZodNullable<z.ZodISODateTime>;
        campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"campaign">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            name: z.ZodString;
            program_id: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
        program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"program">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            slug: z.ZodString;
            name: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
    }, z.core.$strip>>>;
    object: z.ZodLiteral<"event">;
    livemode: z.ZodBoolean;
    event_id: z.ZodString;
    event_version: z.ZodInt32;
    metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
}, z.core.$strip>, z.ZodObject<{
    event_type: z.ZodLiteral<"outreach.email_clicked">;
    occurred_at: z.ZodISODateTime;
    emitted_at: z.ZodISODateTime;
    source: z.ZodLiteral<"service">;
    data: z.ZodObject<{
        clicked_at: z.ZodISODateTime;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        token: z.ZodString;
        is_bot_suspected: z.ZodBoolean;
    }, z.core.$loose>;
    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"campaign">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        name: z.ZodString;
        program_id: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    recipient: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"recipient_record">;
        livemode: z.ZodBoolean;
        token: z.ZodString;
        npi: z.ZodString;
        email: z.ZodEmail;
        service_recipient_id: z.ZodString;
        service_campaign_id: z.ZodString;
        service_program_id: z.ZodString;
        created_at: z.ZodISODateTime;
        updated_at: z.ZodNullable<z.ZodISODateTime>;
        sent_at: z.ZodNullable<z.ZodISODateTime>;
        bounced_at: z.ZodNullable<z.ZodISODateTime>;
        last_event_at: z.ZodNullable<z.ZodISODateTime>;
        campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"campaign">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            name: z.ZodString;
            program_id: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
        program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
            object: z.ZodLiteral<"program">;
            livemode: z.ZodBoolean;
            id: z.ZodString;
            slug: z.ZodString;
            name: z.ZodString;
            status: z.ZodString;
        }, z.core.$strip>>>;
    }, z.core.$strip>>>;
    object: z.ZodLiteral<"event">;
    livemode: z.ZodBoolean;
    event_id: z.ZodString;
    event_version: z.ZodInt32;
    metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
}, z.core.$strip>], "event_type">;
/** An event of the pull feed. */
type FeedEvent = z.infer<typeof FeedEvent>;
/** One page of the pull feed. */
declare const EventList: z.ZodType<List<FeedEvent>>;

/** What a case was published as. */
declare const Publication: z.ZodObject<{
    type: z.ZodEnum<{
        link: "link";
        text: "text";
        pdf: "pdf";
        embedded: "embedded";
    }>;
    url: z.ZodOptional<z.ZodURL>;
    metadata: z.ZodOptional<z.ZodObject<{
        journal: z.ZodOptional<z.ZodString>;
        authors: z.ZodOptional<z.ZodString>;
        title: z.ZodOptional<z.ZodString>;
        doi: z.ZodOptional<z.ZodString>;
        year: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>>;
}, z.core.$strict>;
/** A clinical case and its questions. */
declare const Case: z.ZodObject<{
    title: z.ZodString;
    content: z.ZodString;
    questions: z.ZodArray<z.ZodObject<{
        type: z.ZodEnum<{
            number: "number";
            text: "text";
            "single-choice": "single-choice";
            "multiple-choice": "multiple-choice";
            scale: "scale";
            "yes-no": "yes-no";
            maxdiff: "maxdiff";
            compound: "compound";
        }>;
        text: z.ZodString;
        description: z.ZodOptional<z.ZodString>;
        required: z.ZodDefault<z.ZodBoolean>;
        placeholder: z.ZodOptional<z.ZodString>;
        voiceEnabled: z.ZodDefault<z.ZodBoolean>;
        validation: z.ZodOptional<z.ZodObject<{
            minLength: z.ZodOptional<z.ZodInt>;
            maxLength: z.ZodOptional<z.ZodInt>;
            min: z.ZodOptional<z.ZodNumber>;
            max: z.ZodOptional<z.ZodNumber>;
        }, z.core.$strict>>;
        options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
            text: z.ZodString;
            value: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>>;
        allowOther: z.ZodDefault<z.ZodBoolean>;
        maxSelections: z.ZodOptional<z.ZodInt>;
        randomizeOptions: z.ZodDefault<z.ZodBoolean>;
        points: z.ZodDefault<z.ZodInt>;
        labels: z.ZodOptional<z.ZodObject<{
            start: z.ZodOptional<z.ZodString>;
            end: z.ZodOptional<z.ZodString>;
            points: z.ZodOptional<z.ZodArray<z.ZodString>>;
        }, z.core.$strict>>;
        visualization: z.ZodDefault<z.ZodEnum<{
            slider: "slider";
            likert: "likert";
            semantic: "semantic";
            descriptive: "descriptive";
            frequency: "frequency";
            comparative: "comparative";
            numerical: "numerical";
            graphic: "graphic";
            "multi-dimension": "multi-dimension";
        }>>;
        showLabels: z.ZodDefault<z.ZodBoolean>;
        showValue: z.ZodDefault<z.ZodBoolean>;
        flipped: z.ZodDefault<z.ZodBoolean>;
        yesText: z.ZodDefault<z.ZodString>;
        noText: z.ZodDefault<z.ZodString>;
        items: z.ZodOptional<z.ZodArray<z.ZodString>>;
        config: z.ZodOptional<z.ZodObject<{
            itemsPerTask: z.ZodOptional<z.ZodInt>;
            totalTasks: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
        contextHeader: z.ZodOptional<z.ZodString>;
        subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
            type: z.ZodEnum<{
                "single-choice": "single-choice";
                "multiple-choice": "multiple-choice";
                scale: "scale";
                "yes-no": "yes-no";
            }>;
            label: z.ZodString;
            required: z.ZodDefault<z.ZodBoolean>;
            options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                text: z.ZodString;
                value: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>]>>>;
            points: z.ZodDefault<z.ZodInt>;
            labels: z.ZodOptional<z.ZodObject<{
                start: z.ZodOptional<z.ZodString>;
                end: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>>;
    ref: z.ZodOptional<z.ZodString>;
    prompt: z.ZodOptional<z.ZodString>;
    publication: z.ZodOptional<z.ZodObject<{
        type: z.ZodEnum<{
            link: "link";
            text: "text";
            pdf: "pdf";
            embedded: "embedded";
        }>;
        url: z.ZodOptional<z.ZodURL>;
        metadata: z.ZodOptional<z.ZodObject<{
            journal: z.ZodOptional<z.ZodString>;
            authors: z.ZodOptional<z.ZodString>;
            title: z.ZodOptional<z.ZodString>;
            doi: z.ZodOptional<z.ZodString>;
            year: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
    }, z.core.$strict>>;
    keyPoints: z.ZodOptional<z.ZodArray<z.ZodString>>;
    summary: z.ZodOptional<z.ZodString>;
    headerLabel: z.ZodOptional<z.ZodString>;
    reflectionLabel: z.ZodOptional<z.ZodString>;
    introLabel: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
/** One audience of a survey. */
declare const AudienceInput: z.ZodObject<{
    name: z.ZodOptional<z.ZodString>;
    roles: z.ZodOptional<z.ZodArray<z.ZodString>>;
    specialtyCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
    states: z.ZodOptional<z.ZodArray<z.ZodString>>;
    zipCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
    compensation: z.ZodOptional<z.ZodNumber>;
    quota: z.ZodOptional<z.ZodInt>;
}, z.core.$strict>;
/** Whom a survey is for. */
declare const Targeting: z.ZodObject<{
    audiences: z.ZodArray<z.ZodObject<{
        name: z.ZodOptional<z.ZodString>;
        roles: z.ZodOptional<z.ZodArray<z.ZodString>>;
        specialtyCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
        states: z.ZodOptional<z.ZodArray<z.ZodString>>;
        zipCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
        compensation: z.ZodOptional<z.ZodNumber>;
        quota: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>>;
}, z.core.$strict>;
/**
 * A survey as it is submitted.
 *
 * Unknown keys are refused at every level, so that a misspelt optional field is never silently lost; so are the fields
 * of the other format.
 */
declare const SurveyInput: z.ZodObject<{
    title: z.ZodString;
    estimatedTime: z.ZodObject<{
        min: z.ZodInt;
        max: z.ZodInt;
    }, z.core.$strict>;
    incentive: z.ZodNumber;
    description: z.ZodOptional<z.ZodString>;
    briefDescription: z.ZodOptional<z.ZodString>;
    sponsor: z.ZodOptional<z.ZodString>;
    background: z.ZodOptional<z.ZodString>;
    directions: z.ZodOptional<z.ZodString>;
    outcomes: z.ZodOptional<z.ZodString>;
    format: z.ZodDefault<z.ZodEnum<{
        standard: "standard";
        "case-based": "case-based";
    }>>;
    questions: z.ZodOptional<z.ZodArray<z.ZodObject<{
        type: z.ZodEnum<{
            number: "number";
            text: "text";
            "single-choice": "single-choice";
            "multiple-choice": "multiple-choice";
            scale: "scale";
            "yes-no": "yes-no";
            maxdiff: "maxdiff";
            compound: "compound";
        }>;
        text: z.ZodString;
        description: z.ZodOptional<z.ZodString>;
        required: z.ZodDefault<z.ZodBoolean>;
        placeholder: z.ZodOptional<z.ZodString>;
        voiceEnabled: z.ZodDefault<z.ZodBoolean>;
        validation: z.ZodOptional<z.ZodObject<{
            minLength: z.ZodOptional<z.ZodInt>;
            maxLength: z.ZodOptional<z.ZodInt>;
            min: z.ZodOptional<z.ZodNumber>;
            max: z.ZodOptional<z.ZodNumber>;
        }, z.core.$strict>>;
        options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
            text: z.ZodString;
            value: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>>;
        allowOther: z.ZodDefault<z.ZodBoolean>;
        maxSelections: z.ZodOptional<z.ZodInt>;
        randomizeOptions: z.ZodDefault<z.ZodBoolean>;
        points: z.ZodDefault<z.ZodInt>;
        labels: z.ZodOptional<z.ZodObject<{
            start: z.ZodOptional<z.ZodString>;
            end: z.ZodOptional<z.ZodString>;
            points: z.ZodOptional<z.ZodArray<z.ZodString>>;
        }, z.core.$strict>>;
        visualization: z.ZodDefault<z.ZodEnum<{
            slider: "slider";
            likert: "likert";
            semantic: "semantic";
            descriptive: "descriptive";
            frequency: "frequency";
            comparative: "comparative";
            numerical: "numerical";
            graphic: "graphic";
            "multi-dimension": "multi-dimension";
        }>>;
        showLabels: z.ZodDefault<z.ZodBoolean>;
        showValue: z.ZodDefault<z.ZodBoolean>;
        flipped: z.ZodDefault<z.ZodBoolean>;
        yesText: z.ZodDefault<z.ZodString>;
        noText: z.ZodDefault<z.ZodString>;
        items: z.ZodOptional<z.ZodArray<z.ZodString>>;
        config: z.ZodOptional<z.ZodObject<{
            itemsPerTask: z.ZodOptional<z.ZodInt>;
            totalTasks: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
        contextHeader: z.ZodOptional<z.ZodString>;
        subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
            type: z.ZodEnum<{
                "single-choice": "single-choice";
                "multiple-choice": "multiple-choice";
                scale: "scale";
                "yes-no": "yes-no";
            }>;
            label: z.ZodString;
            required: z.ZodDefault<z.ZodBoolean>;
            options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                text: z.ZodString;
                value: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>]>>>;
            points: z.ZodDefault<z.ZodInt>;
            labels: z.ZodOptional<z.ZodObject<{
                start: z.ZodOptional<z.ZodString>;
                end: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>>>;
    introQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
        type: z.ZodEnum<{
            number: "number";
            text: "text";
            "single-choice": "single-choice";
            "multiple-choice": "multiple-choice";
            scale: "scale";
            "yes-no": "yes-no";
            maxdiff: "maxdiff";
            compound: "compound";
        }>;
        text: z.ZodString;
        description: z.ZodOptional<z.ZodString>;
        required: z.ZodDefault<z.ZodBoolean>;
        placeholder: z.ZodOptional<z.ZodString>;
        voiceEnabled: z.ZodDefault<z.ZodBoolean>;
        validation: z.ZodOptional<z.ZodObject<{
            minLength: z.ZodOptional<z.ZodInt>;
            maxLength: z.ZodOptional<z.ZodInt>;
            min: z.ZodOptional<z.ZodNumber>;
            max: z.ZodOptional<z.ZodNumber>;
        }, z.core.$strict>>;
        options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
            text: z.ZodString;
            value: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>>;
        allowOther: z.ZodDefault<z.ZodBoolean>;
        maxSelections: z.ZodOptional<z.ZodInt>;
        randomizeOptions: z.ZodDefault<z.ZodBoolean>;
        points: z.ZodDefault<z.ZodInt>;
        labels: z.ZodOptional<z.ZodObject<{
            start: z.ZodOptional<z.ZodString>;
            end: z.ZodOptional<z.ZodString>;
            points: z.ZodOptional<z.ZodArray<z.ZodString>>;
        }, z.core.$strict>>;
        visualization: z.ZodDefault<z.ZodEnum<{
            slider: "slider";
            likert: "likert";
            semantic: "semantic";
            descriptive: "descriptive";
            frequency: "frequency";
            comparative: "comparative";
            numerical: "numerical";
            graphic: "graphic";
            "multi-dimension": "multi-dimension";
        }>>;
        showLabels: z.ZodDefault<z.ZodBoolean>;
        showValue: z.ZodDefault<z.ZodBoolean>;
        flipped: z.ZodDefault<z.ZodBoolean>;
        yesText: z.ZodDefault<z.ZodString>;
        noText: z.ZodDefault<z.ZodString>;
        items: z.ZodOptional<z.ZodArray<z.ZodString>>;
        config: z.ZodOptional<z.ZodObject<{
            itemsPerTask: z.ZodOptional<z.ZodInt>;
            totalTasks: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
        contextHeader: z.ZodOptional<z.ZodString>;
        subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
            type: z.ZodEnum<{
                "single-choice": "single-choice";
                "multiple-choice": "multiple-choice";
                scale: "scale";
                "yes-no": "yes-no";
            }>;
            label: z.ZodString;
            required: z.ZodDefault<z.ZodBoolean>;
            options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                text: z.ZodString;
                value: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>]>>>;
            points: z.ZodDefault<z.ZodInt>;
            labels: z.ZodOptional<z.ZodObject<{
                start: z.ZodOptional<z.ZodString>;
                end: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>>>;
    cases: z.ZodOptional<z.ZodArray<z.ZodObject<{
        title: z.ZodString;
        content: z.ZodString;
        questions: z.ZodArray<z.ZodObject<{
            type: z.ZodEnum<{
                number: "number";
                text: "text";
                "single-choice": "single-choice";
                "multiple-choice": "multiple-choice";
                scale: "scale";
                "yes-no": "yes-no";
                maxdiff: "maxdiff";
                compound: "compound";
            }>;
            text: z.ZodString;
            description: z.ZodOptional<z.ZodString>;
            required: z.ZodDefault<z.ZodBoolean>;
            placeholder: z.ZodOptional<z.ZodString>;
            voiceEnabled: z.ZodDefault<z.ZodBoolean>;
            validation: z.ZodOptional<z.ZodObject<{
                minLength: z.ZodOptional<z.ZodInt>;
                maxLength: z.ZodOptional<z.ZodInt>;
                min: z.ZodOptional<z.ZodNumber>;
                max: z.ZodOptional<z.ZodNumber>;
            }, z.core.$strict>>;
            options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                text: z.ZodString;
                value: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>]>>>;
            allowOther: z.ZodDefault<z.ZodBoolean>;
            maxSelections: z.ZodOptional<z.ZodInt>;
            randomizeOptions: z.ZodDefault<z.ZodBoolean>;
            points: z.ZodDefault<z.ZodInt>;
            labels: z.ZodOptional<z.ZodObject<{
                start: z.ZodOptional<z.ZodString>;
                end: z.ZodOptional<z.ZodString>;
                points: z.ZodOptional<z.ZodArray<z.ZodString>>;
            }, z.core.$strict>>;
            visualization: z.ZodDefault<z.ZodEnum<{
                slider: "slider";
                likert: "likert";
                semantic: "semantic";
                descriptive: "descriptive";
                frequency: "frequency";
                comparative: "comparative";
                numerical: "numerical";
                graphic: "graphic";
                "multi-dimension": "multi-dimension";
            }>>;
            showLabels: z.ZodDefault<z.ZodBoolean>;
            showValue: z.ZodDefault<z.ZodBoolean>;
            flipped: z.ZodDefault<z.ZodBoolean>;
            yesText: z.ZodDefault<z.ZodString>;
            noText: z.ZodDefault<z.ZodString>;
            items: z.ZodOptional<z.ZodArray<z.ZodString>>;
            config: z.ZodOptional<z.ZodObject<{
                itemsPerTask: z.ZodOptional<z.ZodInt>;
                totalTasks: z.ZodOptional<z.ZodInt>;
            }, z.core.$strict>>;
            contextHeader: z.ZodOptional<z.ZodString>;
            subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
                type: z.ZodEnum<{
                    "single-choice": "single-choice";
                    "multiple-choice": "multiple-choice";
                    scale: "scale";
                    "yes-no": "yes-no";
                }>;
                label: z.ZodString;
                required: z.ZodDefault<z.ZodBoolean>;
                options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                    text: z.ZodString;
                    value: z.ZodOptional<z.ZodString>;
                }, z.core.$strict>]>>>;
                points: z.ZodDefault<z.ZodInt>;
                labels: z.ZodOptional<z.ZodObject<{
                    start: z.ZodOptional<z.ZodString>;
                    end: z.ZodOptional<z.ZodString>;
                }, z.core.$strict>>;
            }, z.core.$strict>>>;
        }, z.core.$strict>>;
        ref: z.ZodOptional<z.ZodString>;
        prompt: z.ZodOptional<z.ZodString>;
        publication: z.ZodOptional<z.ZodObject<{
            type: z.ZodEnum<{
                link: "link";
                text: "text";
                pdf: "pdf";
                embedded: "embedded";
            }>;
            url: z.ZodOptional<z.ZodURL>;
            metadata: z.ZodOptional<z.ZodObject<{
                journal: z.ZodOptional<z.ZodString>;
                authors: z.ZodOptional<z.ZodString>;
                title: z.ZodOptional<z.ZodString>;
                doi: z.ZodOptional<z.ZodString>;
                year: z.ZodOptional<z.ZodInt>;
            }, z.core.$strict>>;
        }, z.core.$strict>>;
        keyPoints: z.ZodOptional<z.ZodArray<z.ZodString>>;
        summary: z.ZodOptional<z.ZodString>;
        headerLabel: z.ZodOptional<z.ZodString>;
        reflectionLabel: z.ZodOptional<z.ZodString>;
        introLabel: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>>;
    closingQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
        type: z.ZodEnum<{
            number: "number";
            text: "text";
            "single-choice": "single-choice";
            "multiple-choice": "multiple-choice";
            scale: "scale";
            "yes-no": "yes-no";
            maxdiff: "maxdiff";
            compound: "compound";
        }>;
        text: z.ZodString;
        description: z.ZodOptional<z.ZodString>;
        required: z.ZodDefault<z.ZodBoolean>;
        placeholder: z.ZodOptional<z.ZodString>;
        voiceEnabled: z.ZodDefault<z.ZodBoolean>;
        validation: z.ZodOptional<z.ZodObject<{
            minLength: z.ZodOptional<z.ZodInt>;
            maxLength: z.ZodOptional<z.ZodInt>;
            min: z.ZodOptional<z.ZodNumber>;
            max: z.ZodOptional<z.ZodNumber>;
        }, z.core.$strict>>;
        options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
            text: z.ZodString;
            value: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>>;
        allowOther: z.ZodDefault<z.ZodBoolean>;
        maxSelections: z.ZodOptional<z.ZodInt>;
        randomizeOptions: z.ZodDefault<z.ZodBoolean>;
        points: z.ZodDefault<z.ZodInt>;
        labels: z.ZodOptional<z.ZodObject<{
            start: z.ZodOptional<z.ZodString>;
            end: z.ZodOptional<z.ZodString>;
            points: z.ZodOptional<z.ZodArray<z.ZodString>>;
        }, z.core.$strict>>;
        visualization: z.ZodDefault<z.ZodEnum<{
            slider: "slider";
            likert: "likert";
            semantic: "semantic";
            descriptive: "descriptive";
            frequency: "frequency";
            comparative: "comparative";
            numerical: "numerical";
            graphic: "graphic";
            "multi-dimension": "multi-dimension";
        }>>;
        showLabels: z.ZodDefault<z.ZodBoolean>;
        showValue: z.ZodDefault<z.ZodBoolean>;
        flipped: z.ZodDefault<z.ZodBoolean>;
        yesText: z.ZodDefault<z.ZodString>;
        noText: z.ZodDefault<z.ZodString>;
        items: z.ZodOptional<z.ZodArray<z.ZodString>>;
        config: z.ZodOptional<z.ZodObject<{
            itemsPerTask: z.ZodOptional<z.ZodInt>;
            totalTasks: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
        contextHeader: z.ZodOptional<z.ZodString>;
        subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
            type: z.ZodEnum<{
                "single-choice": "single-choice";
                "multiple-choice": "multiple-choice";
                scale: "scale";
                "yes-no": "yes-no";
            }>;
            label: z.ZodString;
            required: z.ZodDefault<z.ZodBoolean>;
            options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
                text: z.ZodString;
                value: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>]>>>;
            points: z.ZodDefault<z.ZodInt>;
            labels: z.ZodOptional<z.ZodObject<{
                start: z.ZodOptional<z.ZodString>;
                end: z.ZodOptional<z.ZodString>;
            }, z.core.$strict>>;
        }, z.core.$strict>>>;
    }, z.core.$strict>>>;
    targeting: z.ZodOptional<z.ZodObject<{
        audiences: z.ZodArray<z.ZodObject<{
            name: z.ZodOptional<z.ZodString>;
            roles: z.ZodOptional<z.ZodArray<z.ZodString>>;
            specialtyCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
            states: z.ZodOptional<z.ZodArray<z.ZodString>>;
            zipCodes: z.ZodOptional<z.ZodArray<z.ZodString>>;
            compensation: z.ZodOptional<z.ZodNumber>;
            quota: z.ZodOptional<z.ZodInt>;
        }, z.core.$strict>>;
    }, z.core.$strict>>;
}, z.core.$strict>;
/** A survey as it is submitted. */
type SurveyInput = z.input<typeof SurveyInput>;
/** A survey decoded: defaults filled in. */
type Survey = z.output<typeof SurveyInput>;
/** A survey saved as a draft. */
declare const SurveyCreated: z.ZodObject<{
    id: z.ZodUUID;
    title: z.ZodString;
    status: z.ZodString;
    questionCount: z.ZodInt;
    createdAt: z.ZodString;
}, z.core.$strip>;
/** A survey saved as a draft. */
type SurveyCreated = z.infer<typeof SurveyCreated>;
/** The outcome of a dry run. */
declare const ValidateResult: z.ZodObject<{
    valid: z.ZodBoolean;
    questionCount: z.ZodInt;
    caseCount: z.ZodOptional<z.ZodInt>;
}, z.core.$strip>;
/** The outcome of a dry run. */
type ValidateResult = z.infer<typeof ValidateResult>;
/** Where to upload a file, and where it is found afterwards. */
declare const PresignResult: z.ZodObject<{
    url: z.ZodURL;
    publicUrl: z.ZodURL;
    expiresIn: z.ZodInt;
}, z.core.$strip>;
/** Where to upload a file, and where it is found afterwards. */
type PresignResult = z.infer<typeof PresignResult>;

/** The contract: every operation of the API, by its id. */
declare const operations: {
    readonly getHealth: {
        readonly operationId: "getHealth";
        readonly path: "/v1/health";
        readonly tag: "Health";
        readonly summary: "Check health";
        readonly description: "Says that the service is reachable. No rate limit.";
        readonly auth: {
            readonly kind: "none";
        };
        readonly parameterCodes: {};
        readonly headers: readonly [];
        readonly responses: {
            readonly 200: {
                readonly description: "The service is reachable.";
                readonly body: z.ZodObject<{
                    status: z.ZodString;
                    version: z.ZodString;
                    timestamp: z.ZodISODateTime;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_PARAMETER", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly body: null;
    };
    readonly getToken: {
        readonly operationId: "getToken";
        readonly path: "/v1/partners/consumer/tokens/{token}";
        readonly tag: "Tokens";
        readonly summary: "Resolve one token";
        readonly description: "For ad-hoc and debugging use only: a partner's redirect handler must not call it on the click path. The ETag is derived from `updated_at`.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "tokens:read";
        };
        readonly pathParameters: z.ZodObject<{
            token: z.ZodString;
        }, z.core.$strict>;
        readonly query: z.ZodObject<{
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly token: "INVALID_TOKEN";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly headers: readonly ["If-None-Match", "Idempotency-Key"];
        readonly responses: {
            readonly 200: {
                readonly description: "The recipient record.";
                readonly body: z.ZodObject<{
                    object: z.ZodLiteral<"recipient_record">;
                    livemode: z.ZodBoolean;
                    token: z.ZodString;
                    npi: z.ZodString;
                    email: z.ZodEmail;
                    service_recipient_id: z.ZodString;
                    service_campaign_id: z.ZodString;
                    service_program_id: z.ZodString;
                    created_at: z.ZodISODateTime;
                    updated_at: z.ZodNullable<z.ZodISODateTime>;
                    sent_at: z.ZodNullable<z.ZodISODateTime>;
                    bounced_at: z.ZodNullable<z.ZodISODateTime>;
                    last_event_at: z.ZodNullable<z.ZodISODateTime>;
                    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                        object: z.ZodLiteral<"campaign">;
                        livemode: z.ZodBoolean;
                        id: z.ZodString;
                        name: z.ZodString;
                        program_id: z.ZodString;
                        status: z.ZodString;
                    }, z.core.$strip>>>;
                    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
                        object: z.ZodLiteral<"program">;
                        livemode: z.ZodBoolean;
                        id: z.ZodString;
                        slug: z.ZodString;
                        name: z.ZodString;
                        status: z.ZodString;
                    }, z.core.$strip>>>;
                }, z.core.$strip>;
                readonly headers: readonly ["ETag", "Cache-Control"];
            };
            readonly 304: {
                readonly description: "`If-None-Match` matches the current ETag.";
                readonly body: null;
                readonly headers: readonly ["ETag", "Cache-Control"];
            };
        };
        readonly errors: readonly ["INVALID_TOKEN", "INVALID_EXPAND", "TOKEN_NOT_FOUND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly body: null;
    };
    readonly listTokens: {
        readonly operationId: "listTokens";
        readonly path: "/v1/partners/consumer/tokens";
        readonly tag: "Tokens";
        readonly summary: "List recipient records since a time";
        readonly description: "Records updated at or after `since`, in the stable order of (`updated_at`, id).";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "tokens:read";
        };
        readonly query: z.ZodObject<{
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
            since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of recipient records.";
                readonly body: z.ZodType<List<{
                    object: "recipient_record";
                    livemode: boolean;
                    token: string;
                    npi: string;
                    email: string;
                    service_recipient_id: string;
                    service_campaign_id: string;
                    service_program_id: string;
                    created_at: string;
                    updated_at: string | null;
                    sent_at: string | null;
                    bounced_at: string | null;
                    last_event_at: string | null;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                }>, unknown, z.core.$ZodTypeInternals<List<{
                    object: "recipient_record";
                    livemode: boolean;
                    token: string;
                    npi: string;
                    email: string;
                    service_recipient_id: string;
                    service_campaign_id: string;
                    service_program_id: string;
                    created_at: string;
                    updated_at: string | null;
                    sent_at: string | null;
                    bounced_at: string | null;
                    last_event_at: string | null;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                }>, unknown>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly listEvents: {
        readonly operationId: "listEvents";
        readonly path: "/v1/partners/consumer/events";
        readonly tag: "Events";
        readonly summary: "List outreach events since a time";
        readonly description: "Events of traffic campaigns under partner-bound programs, emitted at or after `since`. Deduplicate by `event_id`, as with webhooks; an early `since` backfills history.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "events:read";
        };
        readonly query: z.ZodObject<{
            since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            type: z.ZodOptional<z.ZodEnum<{
                "outreach.email_sent": "outreach.email_sent";
                "outreach.email_bounced": "outreach.email_bounced";
                "outreach.email_opened": "outreach.email_opened";
                "outreach.email_clicked": "outreach.email_clicked";
            }>>;
            "types[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                "outreach.email_sent": "outreach.email_sent";
                "outreach.email_bounced": "outreach.email_bounced";
                "outreach.email_opened": "outreach.email_opened";
                "outreach.email_clicked": "outreach.email_clicked";
            }>>, z.ZodTransform<("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[], ("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[]>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
                recipient: "recipient";
            }>>, z.ZodTransform<("campaign" | "program" | "recipient")[], ("campaign" | "program" | "recipient")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly type: "INVALID_TYPE_FILTER";
            readonly "types[]": "INVALID_TYPE_FILTER";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of event envelopes.";
                readonly body: z.ZodType<List<{
                    event_type: "outreach.email_sent";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        token: string;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_bounced";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        bounce_reason: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        token: string;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_opened";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        opened_at: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        token: string;
                        is_bot_suspected: boolean;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_clicked";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        clicked_at: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        token: string;
                        is_bot_suspected: boolean;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                }>, unknown, z.core.$ZodTypeInternals<List<{
                    event_type: "outreach.email_sent";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        token: string;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_bounced";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        bounce_reason: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        token: string;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_opened";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        opened_at: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        token: string;
                        is_bot_suspected: boolean;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                } | {
                    event_type: "outreach.email_clicked";
                    occurred_at: string;
                    emitted_at: string;
                    source: "service";
                    data: {
                        [x: string]: unknown;
                        clicked_at: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        token: string;
                        is_bot_suspected: boolean;
                    };
                    object: "event";
                    livemode: boolean;
                    event_id: string;
                    event_version: number;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                    recipient?: {
                        object: "recipient_record";
                        livemode: boolean;
                        token: string;
                        npi: string;
                        email: string;
                        service_recipient_id: string;
                        service_campaign_id: string;
                        service_program_id: string;
                        created_at: string;
                        updated_at: string | null;
                        sent_at: string | null;
                        bounced_at: string | null;
                        last_event_at: string | null;
                        campaign?: {
                            object: "campaign";
                            livemode: boolean;
                            id: string;
                            name: string;
                            program_id: string;
                            status: string;
                        } | null | undefined;
                        program?: {
                            object: "program";
                            livemode: boolean;
                            id: string;
                            slug: string;
                            name: string;
                            status: string;
                        } | null | undefined;
                    } | null | undefined;
                    metadata?: Record<string, unknown> | null | undefined;
                }>, unknown>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_TYPE_FILTER", "INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly listCampaignRecipients: {
        readonly operationId: "listCampaignRecipients";
        readonly path: "/v1/partners/consumer/campaigns/{id}/recipients";
        readonly tag: "Campaigns";
        readonly summary: "List recipients of a campaign";
        readonly description: "An unknown campaign has no recipients.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "recipients:read";
        };
        readonly pathParameters: z.ZodObject<{
            id: z.ZodString;
        }, z.core.$strict>;
        readonly query: z.ZodObject<{
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly id: "INVALID_CAMPAIGN_ID";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of recipient records.";
                readonly body: z.ZodType<List<{
                    object: "recipient_record";
                    livemode: boolean;
                    token: string;
                    npi: string;
                    email: string;
                    service_recipient_id: string;
                    service_campaign_id: string;
                    service_program_id: string;
                    created_at: string;
                    updated_at: string | null;
                    sent_at: string | null;
                    bounced_at: string | null;
                    last_event_at: string | null;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                }>, unknown, z.core.$ZodTypeInternals<List<{
                    object: "recipient_record";
                    livemode: boolean;
                    token: string;
                    npi: string;
                    email: string;
                    service_recipient_id: string;
                    service_campaign_id: string;
                    service_program_id: string;
                    created_at: string;
                    updated_at: string | null;
                    sent_at: string | null;
                    bounced_at: string | null;
                    last_event_at: string | null;
                    campaign?: {
                        object: "campaign";
                        livemode: boolean;
                        id: string;
                        name: string;
                        program_id: string;
                        status: string;
                    } | null | undefined;
                    program?: {
                        object: "program";
                        livemode: boolean;
                        id: string;
                        slug: string;
                        name: string;
                        status: string;
                    } | null | undefined;
                }>, unknown>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_CAMPAIGN_ID", "INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly getDigest: {
        readonly operationId: "getDigest";
        readonly path: "/v1/partners/consumer/digest";
        readonly tag: "Digest";
        readonly summary: "Read the daily digest";
        readonly description: "One record per partner-bound program of the caller's organization, for one UTC date. A future date is refused.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "digest:read";
        };
        readonly query: z.ZodObject<{
            date: z.ZodISODate;
        }, z.core.$strict>;
        readonly parameterCodes: {};
        readonly responses: {
            readonly 200: {
                readonly description: "The digest.";
                readonly body: z.ZodObject<{
                    object: z.ZodLiteral<"digest">;
                    livemode: z.ZodBoolean;
                    date: z.ZodISODate;
                    data: z.ZodArray<z.ZodObject<{
                        object: z.ZodLiteral<"digest_record">;
                        livemode: z.ZodBoolean;
                        date: z.ZodISODate;
                        program: z.ZodObject<{
                            object: z.ZodLiteral<"program">;
                            livemode: z.ZodBoolean;
                            id: z.ZodString;
                            slug: z.ZodString;
                            name: z.ZodString;
                            status: z.ZodString;
                        }, z.core.$strip>;
                        funnel: z.ZodObject<{
                            date: z.ZodObject<{
                                account_created: z.ZodInt;
                                learner_qualified: z.ZodInt;
                                completer_qualified: z.ZodInt;
                            }, z.core.$strip>;
                            cumulative: z.ZodObject<{
                                account_created: z.ZodInt;
                                learner_qualified: z.ZodInt;
                                completer_qualified: z.ZodInt;
                            }, z.core.$strip>;
                        }, z.core.$strip>;
                        outreach: z.ZodObject<{
                            without_suspected_bots: z.ZodObject<{
                                opened: z.ZodInt;
                                clicked: z.ZodInt;
                                unique_opened: z.ZodInt;
                                unique_clicked: z.ZodInt;
                            }, z.core.$strip>;
                            opened: z.ZodInt;
                            clicked: z.ZodInt;
                            unique_opened: z.ZodInt;
                            unique_clicked: z.ZodInt;
                            recipients_published: z.ZodInt;
                            sent: z.ZodInt;
                            bounced: z.ZodInt;
                        }, z.core.$strip>;
                        quota: z.ZodObject<{
                            learner_qualified: z.ZodObject<{
                                target: z.ZodNullable<z.ZodInt>;
                                count: z.ZodInt;
                                remaining: z.ZodNullable<z.ZodInt>;
                                reached_at: z.ZodNullable<z.ZodISODateTime>;
                            }, z.core.$strip>;
                            completer_qualified: z.ZodObject<{
                                target: z.ZodNullable<z.ZodInt>;
                                count: z.ZodInt;
                                remaining: z.ZodNullable<z.ZodInt>;
                                reached_at: z.ZodNullable<z.ZodISODateTime>;
                            }, z.core.$strip>;
                        }, z.core.$strip>;
                    }, z.core.$strip>>;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly receiveWebhook: {
        readonly operationId: "receiveWebhook";
        readonly method: "POST";
        readonly path: "/v1/partners/consumer/webhooks/{endpoint_id}";
        readonly tag: "Webhooks";
        readonly summary: "Receive a signed event";
        readonly description: "The signature is verified over the raw body before it is parsed. Acknowledged once stored; a repeated `event_id` and an unknown event type are acknowledged too.";
        readonly auth: {
            readonly kind: "signature";
        };
        readonly pathParameters: z.ZodObject<{
            endpoint_id: z.ZodString;
        }, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly [];
        readonly body: {
            readonly schema: z.ZodObject<{
                event_id: z.ZodString;
                event_type: z.ZodString;
                occurred_at: z.ZodString;
                emitted_at: z.ZodString;
                source: z.ZodLiteral<"consumer">;
                data: z.ZodRecord<z.ZodString, z.ZodUnknown>;
                object: z.ZodLiteral<"event">;
                livemode: z.ZodBoolean;
                event_version: z.ZodInt32;
                metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
            }, z.core.$strip>;
            readonly maxBytes: 1048576;
        };
        readonly responses: {
            readonly 200: {
                readonly description: "The event is stored.";
                readonly body: z.ZodObject<{
                    received: z.ZodLiteral<true>;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_SIGNATURE", "INVALID_PARAMETER", "MISSING_PARAMETER", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly envelope: "partner";
        readonly draft: false;
        readonly query: z.ZodObject<{}, z.core.$strict>;
    };
    readonly createSurvey: {
        readonly operationId: "createSurvey";
        readonly method: "POST";
        readonly path: "/v1/surveys";
        readonly summary: "Create a survey (draft, not served)";
        readonly description: "Will save the survey as a draft. Until it is served, answers 501.";
        readonly body: {
            readonly schema: z.ZodType<Survey, SurveyInput>;
            readonly maxBytes: number;
        };
        readonly responses: {
            readonly 201: {
                readonly description: "The survey is saved as a draft.";
                readonly body: z.ZodObject<{
                    id: z.ZodUUID;
                    title: z.ZodString;
                    status: z.ZodString;
                    questionCount: z.ZodInt;
                    createdAt: z.ZodString;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
    readonly validateSurvey: {
        readonly operationId: "validateSurvey";
        readonly method: "POST";
        readonly path: "/v1/surveys/validate";
        readonly summary: "Validate a survey (draft, not served)";
        readonly description: "Will say whether the survey is valid and save nothing. Until it is served, answers 501.";
        readonly body: {
            readonly schema: z.ZodType<Survey, SurveyInput>;
            readonly maxBytes: number;
        };
        readonly responses: {
            readonly 200: {
                readonly description: "The survey is valid.";
                readonly body: z.ZodObject<{
                    valid: z.ZodBoolean;
                    questionCount: z.ZodInt;
                    caseCount: z.ZodOptional<z.ZodInt>;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
    readonly presignUpload: {
        readonly operationId: "presignUpload";
        readonly method: "GET";
        readonly path: "/v1/uploads/presign";
        readonly summary: "Get a pre-signed upload URL (draft, not served)";
        readonly description: "Will give an address to upload a file to. Until it is served, answers 501.";
        readonly query: z.ZodObject<{
            filename: z.ZodString;
            contentType: z.ZodDefault<z.ZodString>;
        }, z.core.$strict>;
        readonly responses: {
            readonly 200: {
                readonly description: "Where to upload.";
                readonly body: z.ZodObject<{
                    url: z.ZodURL;
                    publicUrl: z.ZodURL;
                    expiresIn: z.ZodInt;
                }, z.core.$strip>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
};
/** The contract's rows by their ids. */
type Operations = typeof operations;
/** The id of an operation. */
type OperationId = keyof Operations;

/** An example of each event, by its type. */
declare const eventExamples: {
    readonly [Type in EventType]: EventEnvelope<Type>;
};
type BodyOf<Response> = Response extends {
    readonly body: infer Body;
} ? Exclude<Body, null> : never;
interface Example<Op extends Operation> {
    readonly request?: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.input<Schema> : never;
    readonly response: ResponseOf<Op> extends infer Response ? BodyOf<Response> : never;
}
/** An example of what each operation takes and answers, by operation id. */
declare const examples: {
    readonly [Id in OperationId]: Example<Operations[Id]>;
};

/** The request headers that operations read beside their credential. */
declare const requestHeaders: {
    readonly "If-None-Match": z.ZodString;
    readonly "Idempotency-Key": z.ZodString;
};

/** What the health check says. */
declare const Health: z.ZodObject<{
    status: z.ZodString;
    version: z.ZodString;
    timestamp: z.ZodISODateTime;
}, z.core.$strip>;
/** What the health check says. */
type Health = z.infer<typeof Health>;

/** A recipient's short-link token: six base62 characters. */
declare const Token: z.ZodString;
/** A clinician's national provider identifier: ten digits. */
declare const Npi: z.ZodString;
/** An e-mail address. */
declare const Email: z.ZodEmail;
/** A recipient's id, `rcp_<hex>`. */
declare const RecipientId: z.ZodString;
/** A campaign's id, `cmp_<hex>`. */
declare const CampaignId: z.ZodString;
/** A program's id, `pgm_<hex>`. */
declare const ProgramId: z.ZodString;
/** An event's id, `evt_<hex>`: the deduplication key. */
declare const EventId: z.ZodString;
/** A request's id, `req_<hex>`; equals the `X-Request-Id` response header. */
declare const RequestId: z.ZodString;
/** A webhook endpoint's id, `whe_<hex>`. */
declare const WebhookEndpointId: z.ZodString;

/** One choice: its text, and the value to store for it. */
declare const OptionObject: z.ZodObject<{
    text: z.ZodString;
    value: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
/** One row of a compound question. */
declare const SubQuestion: z.ZodObject<{
    type: z.ZodEnum<{
        "single-choice": "single-choice";
        "multiple-choice": "multiple-choice";
        scale: "scale";
        "yes-no": "yes-no";
    }>;
    label: z.ZodString;
    required: z.ZodDefault<z.ZodBoolean>;
    options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
        text: z.ZodString;
        value: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>]>>>;
    points: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodObject<{
        start: z.ZodOptional<z.ZodString>;
        end: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>;
}, z.core.$strict>;
/** A survey's question. */
declare const Question: z.ZodObject<{
    type: z.ZodEnum<{
        number: "number";
        text: "text";
        "single-choice": "single-choice";
        "multiple-choice": "multiple-choice";
        scale: "scale";
        "yes-no": "yes-no";
        maxdiff: "maxdiff";
        compound: "compound";
    }>;
    text: z.ZodString;
    description: z.ZodOptional<z.ZodString>;
    required: z.ZodDefault<z.ZodBoolean>;
    placeholder: z.ZodOptional<z.ZodString>;
    voiceEnabled: z.ZodDefault<z.ZodBoolean>;
    validation: z.ZodOptional<z.ZodObject<{
        minLength: z.ZodOptional<z.ZodInt>;
        maxLength: z.ZodOptional<z.ZodInt>;
        min: z.ZodOptional<z.ZodNumber>;
        max: z.ZodOptional<z.ZodNumber>;
    }, z.core.$strict>>;
    options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
        text: z.ZodString;
        value: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>]>>>;
    allowOther: z.ZodDefault<z.ZodBoolean>;
    maxSelections: z.ZodOptional<z.ZodInt>;
    randomizeOptions: z.ZodDefault<z.ZodBoolean>;
    points: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodObject<{
        start: z.ZodOptional<z.ZodString>;
        end: z.ZodOptional<z.ZodString>;
        points: z.ZodOptional<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>>;
    visualization: z.ZodDefault<z.ZodEnum<{
        slider: "slider";
        likert: "likert";
        semantic: "semantic";
        descriptive: "descriptive";
        frequency: "frequency";
        comparative: "comparative";
        numerical: "numerical";
        graphic: "graphic";
        "multi-dimension": "multi-dimension";
    }>>;
    showLabels: z.ZodDefault<z.ZodBoolean>;
    showValue: z.ZodDefault<z.ZodBoolean>;
    flipped: z.ZodDefault<z.ZodBoolean>;
    yesText: z.ZodDefault<z.ZodString>;
    noText: z.ZodDefault<z.ZodString>;
    items: z.ZodOptional<z.ZodArray<z.ZodString>>;
    config: z.ZodOptional<z.ZodObject<{
        itemsPerTask: z.ZodOptional<z.ZodInt>;
        totalTasks: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>>;
    contextHeader: z.ZodOptional<z.ZodString>;
    subQuestions: z.ZodOptional<z.ZodArray<z.ZodObject<{
        type: z.ZodEnum<{
            "single-choice": "single-choice";
            "multiple-choice": "multiple-choice";
            scale: "scale";
            "yes-no": "yes-no";
        }>;
        label: z.ZodString;
        required: z.ZodDefault<z.ZodBoolean>;
        options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, z.ZodObject<{
            text: z.ZodString;
            value: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>]>>>;
        points: z.ZodDefault<z.ZodInt>;
        labels: z.ZodOptional<z.ZodObject<{
            start: z.ZodOptional<z.ZodString>;
            end: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>>;
    }, z.core.$strict>>>;
}, z.core.$strict>;
/** A survey's question, decoded: defaults filled in. */
type Question = z.output<typeof Question>;

/** A time that the service emits: UTC with six fraction digits, `2026-11-21T02:45:29.123456Z`. */
declare const Timestamp: z.ZodISODateTime;
/** A time that the service accepts in a body: any ISO 8601 date-time with `Z` or an offset, kept as it was written. */
declare const Instant: z.ZodString;
/** A calendar date that exists, `YYYY-MM-DD`. */
declare const CalendarDate: z.ZodISODate;
/** The `since` parameter: a date-time with `Z` or an offset, decoded to UTC text with six fraction digits. */
declare const Since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;

/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
declare const RecipientRecord: z.ZodObject<{
    object: z.ZodLiteral<"recipient_record">;
    livemode: z.ZodBoolean;
    token: z.ZodString;
    npi: z.ZodString;
    email: z.ZodEmail;
    service_recipient_id: z.ZodString;
    service_campaign_id: z.ZodString;
    service_program_id: z.ZodString;
    created_at: z.ZodISODateTime;
    updated_at: z.ZodNullable<z.ZodISODateTime>;
    sent_at: z.ZodNullable<z.ZodISODateTime>;
    bounced_at: z.ZodNullable<z.ZodISODateTime>;
    last_event_at: z.ZodNullable<z.ZodISODateTime>;
    campaign: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"campaign">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        name: z.ZodString;
        program_id: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
    program: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        object: z.ZodLiteral<"program">;
        livemode: z.ZodBoolean;
        id: z.ZodString;
        slug: z.ZodString;
        name: z.ZodString;
        status: z.ZodString;
    }, z.core.$strip>>>;
}, z.core.$strip>;
/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
type RecipientRecord = z.infer<typeof RecipientRecord>;
/** One page of recipient records. */
declare const RecipientList: z.ZodType<List<RecipientRecord>>;

/**
 * An envelope as the receiver takes it: any event type, with `data` not looked into, so that an unknown type is stored
 * and acknowledged. `EVENTS[type].data` says what a known type's `data` holds.
 */
declare const InboundEvent: z.ZodObject<{
    event_id: z.ZodString;
    event_type: z.ZodString;
    occurred_at: z.ZodString;
    emitted_at: z.ZodString;
    source: z.ZodLiteral<"consumer">;
    data: z.ZodRecord<z.ZodString, z.ZodUnknown>;
    object: z.ZodLiteral<"event">;
    livemode: z.ZodBoolean;
    event_version: z.ZodInt32;
    metadata: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;
}, z.core.$strip>;
/** An envelope as the receiver takes it. */
type InboundEvent = z.infer<typeof InboundEvent>;
/** The acknowledgement of a stored event. */
declare const WebhookReceipt: z.ZodObject<{
    received: z.ZodLiteral<true>;
}, z.core.$strip>;
/** The acknowledgement of a stored event. */
type WebhookReceipt = z.infer<typeof WebhookReceipt>;

export { AudienceInput, CalendarDate, CampaignId, CampaignSummary, Case, Digest, DigestRecord, EVENTS, Email, EventEnvelope, EventId, EventList, EventType, FeedEvent, FunnelCounts, Health, InboundEvent, Instant, LegacyError, Npi, OptionObject, OutreachCounts, PartnerError, PresignResult, ProgramId, ProgramSummary, Publication, Question, QuotaStatus, RECIPIENTS_PER_EVENT, RecipientId, RecipientList, RecipientRecord, RequestId, Scope, Since, SubQuestion, SurveyCreated, SurveyInput, Targeting, Timestamp, Token, ValidateResult, WebhookEndpointId, WebhookReceipt, decode, eventExamples, examples, list, operations, rawQuery, requestHeaders };
export type { Auth, CallOf, Decoded, ErrorCodeOf, EventData, List, Operation, OperationId, Operations, ParameterCodes, RawQuery, Refusal, RequestBody, RequestHeader, RequestOf, ResponseHeader, ResponseOf, ResponseRow, Survey };

// @outreach/contract/names
/** The permissions that an API key can hold. */
declare const SCOPES: readonly ["tokens:read", "events:read", "recipients:read", "digest:read"];
/** A permission that an API key can hold. */
type Scope = (typeof SCOPES)[number];
/** Every event type, with the way it goes. */
declare const EVENT_DIRECTIONS: {
    readonly "outreach.recipients_published": "to_consumer";
    readonly "outreach.email_sent": "to_consumer";
    readonly "outreach.email_bounced": "to_consumer";
    readonly "outreach.email_opened": "to_consumer";
    readonly "outreach.email_clicked": "to_consumer";
    readonly "clinician.account_created": "to_service";
    readonly "clinician.learner_qualified": "to_service";
    readonly "clinician.completer_qualified": "to_service";
};
/** The name of an event. */
type EventType = keyof typeof EVENT_DIRECTIONS;
/** The events that go one way. */
type EventTypeOf<Direction extends "to_consumer" | "to_service"> = {
    [T in EventType]: (typeof EVENT_DIRECTIONS)[T] extends Direction ? T : never;
}[EventType];
/** The event types of the pull feed. */
declare const FEED_EVENT_TYPES: readonly ["outreach.email_sent", "outreach.email_bounced", "outreach.email_opened", "outreach.email_clicked"];
/** An event type of the pull feed. */
type FeedEventType = (typeof FEED_EVENT_TYPES)[number];
/** The reasons that the service gives for a bounce; a reader should allow for new ones. */
declare const BOUNCE_REASONS: readonly ["mailbox_not_found", "mailbox_disabled", "domain_not_found", "address_invalid", "other"];
/** A reason that the service gives for a bounce. */
type BounceReason = (typeof BOUNCE_REASONS)[number];

export { BOUNCE_REASONS, EVENT_DIRECTIONS, FEED_EVENT_TYPES, SCOPES };
export type { BounceReason, EventType, EventTypeOf, FeedEventType, Scope };
