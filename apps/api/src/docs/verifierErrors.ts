import type { WebhookVerificationErrorCode } from "@outreach/webhook-verifier"
import { type Html, html, prose } from "./html.ts"
import { keysOf, section } from "./layout.ts"

/** Errors of the verifier with their remedies. */
const ERRORS = {
  missing_header: {
    cause:
      "The request has no `X-Signature`. Either it is not ours, or a proxy or gateway in front of you dropped the header.",
    fix: "Let the header through in every proxy. A request without it is rightly refused.",
  },
  malformed_header: {
    cause:
      "`X-Signature` is not `t=<unix-seconds>,v1=<hex>`, or it came twice. Something on the way took it apart, joined it, or changed its case.",
    fix: "Hand the header over as it came. `npx @outreach/webhook-verifier verify` says which part is wrong.",
  },
  timestamp_out_of_tolerance: {
    cause:
      "The request was signed more than 5 minutes from your clock, before or after. Your clock is wrong, or the request waited in a queue.",
    fix: "Synchronize the clock (NTP). If requests wait before you verify them, store when each arrived and pass it as `receivedAt`. Do not switch the check off: it stops replays.",
  },
  no_match: {
    cause:
      "No signature was made with one of your secrets over these bytes. The secret is another one, or the body was changed.",
    fix: "Compare the secret with the one that we gave you: it begins with `whsec_`, and all of it counts. During a rotation hold both. Verify the raw bytes, before any JSON parser. `npx @outreach/webhook-verifier verify` tries the usual changes and says which one it was.",
  },
  body_already_parsed: {
    cause: "A body parser ran first, so the bytes that were signed are gone.",
    fix: "Put the route before the parser, as in `app.post(path, webhookHandler(…))` before `app.use(express.json())`. Where the parser must come first, let it keep the bytes as `request.rawBody`: `express.json({ verify: … })`.",
  },
  not_a_request: {
    cause:
      "`verify` was not given a request. The body came first and the header after it, as with Stripe's libraries, or the headers were left out, are a promise, or are the signature alone.",
    fix: "Call `verifier.verify({ headers: request.headers, body })`, with the headers as they came. The answer is 500, so the event comes again.",
  },
  malformed_body: {
    cause: "What `verify` was given as the body is not bytes and no well-formed text.",
    fix: "Give it the raw body as `Uint8Array`, `ArrayBuffer` or text, without parsing it.",
  },
  broken_body: {
    cause: "The body ended early or could not be read: the connection broke, or something else had read the stream.",
    fix: "Answer 500, as the adapters do, and it comes again. If it happens each time, look for code that reads the body before the handler. If it happens with large events alone, a framework or proxy before it takes less than the 64 KiB of our largest event.",
  },
  body_too_large: {
    cause: "The body is larger than `maxBytes` of the adapter, which is 64 KiB at least. No event of ours is.",
    fix: "Nothing, if others can reach the address. Otherwise look for what makes the body larger on its way.",
  },
  invalid_json: {
    cause: "The signature is good, but the body is not JSON in UTF-8.",
    fix: "We do not send that. Check whether you sign test events yourself; otherwise tell us the `X-Delivery-Id`.",
  },
  not_an_event: {
    cause: "The signature is good, but the body is not an event.",
    fix: "Check whether you sign test events yourself: `event_id`, `event_type`, `data` and the other fields of the envelope are needed.",
  },
  schema_mismatch: {
    cause:
      "The event is ours, and the `schema` that you gave the verifier refuses it or throws. `issues` of the error names the fields, `cause` what was thrown.",
    fix: "Loosen the schema: let unknown fields, types and later versions pass. The answer is 500, so the event comes again for 31 hours, and nothing is lost until then.",
  },
  no_secrets: {
    cause: "The verifier was made with an empty list of secrets.",
    fix: "Pass at least one: `createWebhookVerifier({ secrets: [process.env.OUTREACH_WEBHOOK_SECRET] })`.",
  },
  empty_secret: {
    cause: "A secret is empty. Most often its environment variable is not set.",
    fix: "Set the variable where the process runs, and where it is built: `next build` loads the file of a route.",
  },
  malformed_secret: {
    cause:
      "A secret holds a line break, white space or quotes around it, or a comma. It was copied with them, or two secrets stand in one text.",
    fix: "Store the secret as it was issued, `whsec_…` and nothing else. Pass several as a list: `secrets: [current, previous]`.",
  },
  too_many_secrets: {
    cause: "The verifier was made with more than 16 secrets.",
    fix: "Keep the current secret, and the one before it during a rotation. Remove those that have ended.",
  },
  invalid_options: {
    cause:
      "An option of the verifier cannot be used: `secrets` that are not a list of texts, or a `tolerance`, `now`, `receivedAt`, `schema` or `maxBytes` of the wrong kind.",
    fix: "Compare the options with the README of the package. Times are Unix seconds, or a `Date` for `receivedAt`. `now: () => Date.now() / 1000`, never `Date.now` itself. `tolerance` is at most 3,600. `maxBytes` is a whole number from 65,536 on: `Number(…)` of a variable that is not set is `NaN`.",
  },
} as const satisfies Record<WebhookVerificationErrorCode, { readonly cause: string; readonly fix: string }>

/** A section for each code of the verifier; its messages link to it. */
export const verifierErrors: ReadonlyArray<Html> = keysOf(ERRORS).map((code) =>
  section(
    code,
    html`<code>${code}</code>`,
    html`<dl>
<dt>Cause</dt><dd>${prose(ERRORS[code].cause)}</dd>
<dt>What to do</dt><dd>${prose(ERRORS[code].fix)}</dd>
</dl>`,
  ),
)
