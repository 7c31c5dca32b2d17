/** A campaign, in short. */
interface CampaignSummary {
    object: "campaign";
    livemode: boolean;
    /** `cmp_<hex>` */
    id: string;
    name: string;
    /** `pgm_<hex>` */
    program_id: string;
    /** Free string. */
    status: string;
}
/** A program, in short. */
interface ProgramSummary {
    object: "program";
    livemode: boolean;
    /** `pgm_<hex>` */
    id: string;
    /** The partner's own name of the program. */
    slug: string;
    name: string;
    /** Free string. */
    status: string;
}
/** A token bound to a clinician, an e-mail address, a campaign and a program. */
interface RecipientRecord {
    object: "recipient_record";
    livemode: boolean;
    /** Six base62 characters. */
    token: string;
    /** Ten digits. */
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
    campaign?: CampaignSummary | null | undefined;
    program?: ProgramSummary | null | undefined;
}
/** What every event carries, whatever its type. */
interface EventEnvelope {
    object: "event";
    /** True only on the production deployment. */
    livemode: boolean;
    /** `evt_<hex>`: the deduplication key. */
    event_id: string;
    event_version: number;
    /** When the thing happened, ISO 8601. */
    occurred_at: string;
    /** When the envelope was emitted, ISO 8601. */
    emitted_at: string;
    metadata?: Record<string, unknown> | null | undefined;
}
interface Outcome {
    service_recipient_id: string;
    service_campaign_id: string;
    token: string;
    [key: string]: unknown;
}
interface Hit {
    service_campaign_id: string;
    service_program_id: string;
    token: string;
    /** A best-effort hint, not a verdict. */
    is_bot_suspected: boolean;
    [key: string]: unknown;
}
interface Qualified {
    npi: string;
    consumer_program_slug: string;
    token?: string | null | undefined;
    [key: string]: unknown;
}
/** The `data` of the events that the service sends, by type. A newer service may add keys. */
interface ServiceEventData {
    /** Fired before a campaign goes live; may arrive in chunks, correlated by `service_campaign_id`. */
    "outreach.recipients_published": {
        service_campaign_id: string;
        service_program_id: string;
        service_campaign_name: string;
        service_program_name: string;
        consumer_program_slug: string;
        scheduled_send_window_start: string;
        scheduled_send_window_end: string;
        recipients: {
            token: string;
            npi: string;
            email: string;
            service_recipient_id: string;
        }[];
        [key: string]: unknown;
    };
    /** Fired when an outreach email is delivered to the recipient mailbox. */
    "outreach.email_sent": Outcome;
    /** Fired on a hard bounce: the token is undeliverable. */
    "outreach.email_bounced": Outcome & {
        /** `mailbox_not_found`, `mailbox_disabled`, `domain_not_found`, `address_invalid`, `other`; new reasons may come. */
        bounce_reason: string;
    };
    "outreach.email_opened": Hit & {
        opened_at: string;
    };
    "outreach.email_clicked": Hit & {
        clicked_at: string;
    };
}
/** The `data` of the events that the consumer sends, by type. */
interface ConsumerEventData {
    "clinician.account_created": {
        npi: string;
        email: string;
        consumer_program_slug: string;
        attribution?: string | null | undefined;
        token?: string | null | undefined;
        [key: string]: unknown;
    };
    "clinician.learner_qualified": Qualified;
    "clinician.completer_qualified": Qualified;
}
type ServiceEvent = {
    [Type in keyof ServiceEventData]: EventEnvelope & {
        event_type: Type;
        source: "service";
        data: ServiceEventData[Type];
        campaign?: CampaignSummary | null | undefined;
        program?: ProgramSummary | null | undefined;
        recipient?: RecipientRecord | null | undefined;
    };
}[keyof ServiceEventData];
type ConsumerEvent = {
    [Type in keyof ConsumerEventData]: EventEnvelope & {
        event_type: Type;
        source: "consumer";
        data: ConsumerEventData[Type];
    };
}[keyof ConsumerEventData];
/** An event of a type that this version knows. */
type KnownEvent = ServiceEvent | ConsumerEvent;
/** The name of an event that this version knows. */
type EventType = KnownEvent["event_type"];
declare const unknown: unique symbol;
/**
 * The name of an event that this version does not know. It is a string; `String(type)` types it as one.
 *
 * No comparison with a known name narrows to it, which neither `string` nor a branded string achieves.
 */
interface UnknownEventType {
    readonly [unknown]: true;
    toString(): string;
}
/** An event of a type that is newer than this version: acknowledge it. */
interface UnknownEvent extends EventEnvelope {
    event_type: UnknownEventType;
    source: string;
    data: Record<string, unknown>;
}
/** A verified event. A `switch` over `event_type` types `data`, and leaves an `UnknownEvent` to its `default`. */
type WebhookEvent = KnownEvent | UnknownEvent;
/** The events of one type, or of several. */
type EventOf<Type extends EventType> = Extract<KnownEvent, {
    event_type: Type;
}>;

/** Headers of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
type WebhookHeaders = {
    get(name: string): string | null;
} | Iterable<readonly [string, string | readonly string[]]> | readonly string[] | {
    readonly [name: string]: string | readonly string[] | undefined;
};
/** A request before anything parsed its body: a Fetch `Request`, or headers beside the raw body. */
type WebhookRequest = {
    readonly headers: WebhookHeaders;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
} | {
    readonly headers: WebhookHeaders;
    /** The raw body; a string stands for its UTF-8 bytes. */
    readonly body: Uint8Array | ArrayBuffer | string;
    /** The raw body where a framework keeps it beside the parsed one; comes before `body`. */
    readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined;
};

/** How far a signature's timestamp may lie from the clock, in seconds. */
interface Tolerance {
    /** How old a signature may be. Default 300. */
    readonly past?: number | undefined;
    /** How far ahead the signer's clock may run. Default 300. */
    readonly future?: number | undefined;
}
/** A schema by the Standard Schema convention, as zod, Valibot and ArkType make them. */
interface EventSchema<Event> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => Validated<Event> | Promise<Validated<Event>>;
        readonly types?: {
            readonly input: unknown;
            readonly output: Event;
        } | undefined;
    };
}
type Validated<Event> = {
    readonly value: Event;
    readonly issues?: undefined;
} | {
    readonly issues: readonly {
        readonly message: string;
    }[];
};
/** What a verifier holds. */
interface WebhookVerifierOptions<Event = WebhookEvent> {
    /** The endpoint's signing secrets, 1 to 16; during a rotation both the old and the new one. */
    readonly secrets: readonly (string | undefined)[];
    /** Seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
    /** The clock, in Unix seconds. Default: the system's. */
    readonly now?: (() => number) | undefined;
    /** Checks each event further, for instance `/schemas` of this package. Default: the envelope alone is checked. */
    readonly schema?: EventSchema<Event> | undefined;
}
/** What is known of one request beside its headers and body. */
interface VerifyOptions {
    /** When a queued request was received: a `Date`, or Unix seconds. Default: now. */
    readonly receivedAt?: Date | number | undefined;
}
/** Verifies webhooks. */
interface WebhookVerifier<Event = WebhookEvent> {
    /** Verifies one request and returns its event; rejects with `WebhookVerificationError`, and with nothing else. */
    verify(request: WebhookRequest, options?: VerifyOptions): Promise<Event>;
}

/** Why a webhook was refused; the set only grows within a major version. */
type WebhookVerificationErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets" | "invalid_json" | "not_an_event" | "body_too_large" | "body_already_parsed" | "unreadable_body" | "invalid_options";
/** A refusal to accept a webhook. It holds a code and a fixed text: never the body, the header or a secret. */
declare class WebhookVerificationError extends Error {
    readonly name: string;
    readonly code: WebhookVerificationErrorCode;
    /** The HTTP status to answer: 4xx where the same request can never be good, 500 where the receiver is at fault. */
    readonly status: number;
    constructor(code: WebhookVerificationErrorCode, fix?: string);
}

/**
 * Makes a verifier of the webhooks that are signed with any of the secrets.
 *
 * Throws `WebhookVerificationError` (`no_secrets`, `empty_secret`, `too_many_secrets`, `invalid_options`) on secrets that no webhook
 * could be verified with. Source: Outreach Partner API specification, Authentication, 4, and Events.
 */
declare function createWebhookVerifier<Event = WebhookEvent>(options: WebhookVerifierOptions<Event>): WebhookVerifier<Event>;

export { WebhookVerificationError, createWebhookVerifier };
export type { CampaignSummary, ConsumerEventData, EventEnvelope, EventOf, EventSchema, EventType, KnownEvent, ProgramSummary, RecipientRecord, ServiceEventData, Tolerance, UnknownEvent, UnknownEventType, VerifyOptions, WebhookEvent, WebhookHeaders, WebhookRequest, WebhookVerificationErrorCode, WebhookVerifier, WebhookVerifierOptions };
