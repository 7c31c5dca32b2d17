import { TRACKING_PATHS, TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { describeCause } from "@outreach/process/describeCause"
import { Cause, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { html } from "../docs/html.ts"
import type { PageRow } from "../http/serve.ts"
import { htmlPage, UNKNOWN_LINK } from "./htmlPage.ts"
import { trackingPayload } from "./trackingPages.ts"

const FORM = html`<form method="post"><button>Unsubscribe</button></form>`

const ASKED = htmlPage(
  200,
  "Unsubscribe?",
  html`<p>Press the button, and you will get no more e-mails of this program.</p>\n${FORM}`,
)
const DONE = htmlPage(
  200,
  "You are unsubscribed",
  html`<p>You will get no more e-mails of this program. One that is on its way already may still arrive.</p>`,
)
const TROUBLE = htmlPage(
  503,
  "Something went wrong",
  html`<p>You are not unsubscribed yet. Please try again in a minute.</p>\n${FORM}`,
)

/**
 * The page to unsubscribe, and what its button and RFC 8058's one click send to.
 *
 * Scanners follow every link by GET, so that alone unsubscribes nobody. The body of the POST is ignored, because the address says everything.
 */
export const unsubscribePages = Effect.gen(function* () {
  const links = yield* TrackingLinks
  const unsubscriptions = yield* UnsubscriptionRepository
  const read = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) =>
    links.read("unsubscribe", trackingPayload("unsubscribe", url)),
  )

  const show = Effect.map(read, (link) => (link === undefined ? UNKNOWN_LINK : ASKED))

  const unsubscribe = Effect.gen(function* () {
    const link = yield* read
    if (link === undefined) return UNKNOWN_LINK
    return (yield* unsubscriptions.ask(link)) ? DONE : UNKNOWN_LINK
  }).pipe(
    Effect.catchDefect((defect) =>
      Effect.logError("an unsubscription could not be kept").pipe(
        Effect.annotateLogs({ errors: describeCause(Cause.die(defect)) }),
        Effect.as(TROUBLE),
      ),
    ),
  )

  return [
    ["GET", `${TRACKING_PATHS.unsubscribe}*`, show],
    ["POST", `${TRACKING_PATHS.unsubscribe}*`, unsubscribe],
  ] satisfies ReadonlyArray<PageRow<never>>
})
