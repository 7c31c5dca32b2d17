import type { WebhookVerificationErrorCode } from "@outreach/webhook-verifier"
import { keysOf } from "./layout.ts"
import { section } from "./renderGuide.ts"

/** Errors of the verifier with their remedies. */
const ERRORS = {
  missing_header: {
    cause: "The request has no `X-Signature`. Either it isn't ours, or one of your proxies dropped the header.",
    fix: "Pass the header through every proxy. Requests without it are rejected correctly.",
  },
  malformed_header: {
    cause:
      "`X-Signature` isn't `t=<unix-seconds>,v1=<hex>`, or it is repeated. A proxy or framework split, joined or changed it.",
    fix: "Pass the header unchanged. `npx @outreach/webhook-verifier verify` shows the invalid part.",
  },
  timestamp_out_of_tolerance: {
    cause:
      "The request was signed more than 5 minutes before or after your current time. Your clock is wrong, or the request waited in a queue.",
    fix: "Synchronize the clock (NTP). If requests wait before you verify them, store the time of receipt and pass it as `receivedAt`. Don't disable the check: it prevents replays.",
  },
  no_match: {
    cause:
      "No signature matches these bytes and one of your secrets. The secret is a different one, or the body was changed.",
    fix: "Compare the secret with the one that we gave you, including the prefix `whsec_`. During a rotation use both. Verify the raw bytes, before any JSON parser. `npx @outreach/webhook-verifier verify` tries common changes and reports the one that matches.",
  },
  body_already_parsed: {
    cause: "A body parser ran first, so the signed bytes are gone.",
    fix: "Put the route before the parser, as in `app.post(path, webhookHandler(…))` before `app.use(express.json())`. If the parser must run first, keep the bytes as `request.rawBody`: `express.json({ verify: … })`.",
  },
  not_a_request: {
    cause:
      "`verify` wasn't called with a request. The body and the header were passed as separate arguments, as with Stripe's libraries, or the headers are missing, a promise, or only the signature.",
    fix: "Call `verifier.verify({ headers: request.headers, body })` with all headers. The status is 500, so the event is sent again.",
  },
  malformed_body: {
    cause: "The body passed to `verify` is neither bytes nor well-formed text.",
    fix: "Pass the raw body as `Uint8Array`, `ArrayBuffer` or string, without parsing it.",
  },
  broken_body: {
    cause: "The body ended early or couldn't be read: the connection broke, or other code read the stream.",
    fix: "Return 500, as the adapters do, and the event is sent again. If it happens every time, look for code that reads the body before the handler. If it happens only with large events, a framework or proxy accepts less than 64 KiB, the size of our largest event.",
  },
  body_too_large: {
    cause: "The body exceeds `maxBytes` of the adapter, which is at least 64 KiB. Our events are never that large.",
    fix: "Ignore it if strangers can reach the URL. Otherwise, find out what enlarges the body.",
  },
  invalid_json: {
    cause: "The signature is valid, but the body isn't UTF-8 JSON.",
    fix: "We don't send such bodies. Check whether you sign test events yourself; otherwise contact us with the `X-Delivery-Id`.",
  },
  not_an_event: {
    cause: "The signature is valid, but the body isn't an event.",
    fix: "Check whether you sign test events yourself: they need `event_id`, `event_type`, `data` and the other fields of the envelope.",
  },
  schema_mismatch: {
    cause:
      "The event is ours, but your `schema` rejects it or throws. The error's `issues` list the fields, `cause` is the thrown error.",
    fix: "Make the schema less strict: accept unknown fields, types and later versions. The status is 500, so the event is sent again for 31 hours and isn't lost until then.",
  },
  no_secrets: {
    cause: "The verifier was created with an empty list of secrets.",
    fix: "Pass at least one: `createWebhookVerifier({ secrets: [process.env.OUTREACH_WEBHOOK_SECRET] })`.",
  },
  empty_secret: {
    cause: "A secret is empty. Usually its environment variable isn't set.",
    fix: "Set the variable where the process runs, and where it is built: `next build` loads route files.",
  },
  malformed_secret: {
    cause:
      "A secret contains a line break, surrounding white space or quotes, or a comma. It was copied with them, or two secrets are in one string.",
    fix: "Store the secret exactly as issued, `whsec_…`. Pass several as a list: `secrets: [current, previous]`.",
  },
  too_many_secrets: {
    cause: "The verifier was created with more than 16 secrets.",
    fix: "Use the current secret, and the previous one during a rotation. Remove expired secrets.",
  },
  invalid_options: {
    cause:
      "An option of the verifier is invalid: `secrets` isn't a list of strings, or `tolerance`, `now`, `receivedAt`, `schema` or `maxBytes` has the wrong type.",
    fix: "Compare the options with the package's README. Times are Unix seconds, or a `Date` for `receivedAt`. Use `now: () => Date.now() / 1000`, not `Date.now`. `tolerance` is at most 3,600. `maxBytes` is a whole number of at least 65,536: `Number(…)` of an unset variable is `NaN`.",
  },
} as const satisfies Record<WebhookVerificationErrorCode, { readonly cause: string; readonly fix: string }>

/** A section for each code of the verifier; its messages link to it. */
export const verifierErrors = keysOf(ERRORS)
  .map((code) =>
    section(code, `\`${code}\``, `- **Cause**: ${ERRORS[code].cause}\n- **What to do**: ${ERRORS[code].fix}`),
  )
  .join("")
