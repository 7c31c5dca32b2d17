import { TRACKING_PATHS, type TrackedLink } from "@outreach/domain/hits/TrackingLinks"
import { maskEmail } from "@outreach/domain/recipients/Clinician"
import {
  type UnsubscriptionChoice,
  UnsubscriptionRepository,
  type UnsubscriptionScope,
} from "@outreach/domain/suppressions/Unsubscriptions"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { describeCause } from "@outreach/process/describeCause"
import { html, type Part } from "@outreach/process/html"
import { Cause, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { PageRow } from "../http/serve.ts"
import { htmlPage, UNKNOWN_LINK } from "./htmlPage.ts"
import { linkReader } from "./trackingPages.ts"

const NOBODY = {
  ...{ organizationName: "this sender", senderName: null, programName: "this program", email: null },
  unsubscribedFrom: null,
} as const

const EVERYTHING = "?scope=organization"
const PROGRAM = "?scope=program"
const NOTHING = "?scope=none"

/** Shows only part of the address, because e-mails are forwarded and archived. */
const addressOf = ({ email }: UnsubscriptionChoice): Part =>
  email === null ? "" : html` at <b>${maskEmail(email)}</b>`

const everythingButton = ({ organizationName }: UnsubscriptionChoice): Part =>
  html`<button formaction="${EVERYTHING}">Everything from ${organizationName}</button>`

const ASKED = (choice: UnsubscriptionChoice) => {
  const { senderName, organizationName, programName } = choice
  return htmlPage(
    200,
    "Unsubscribe?",
    html`<p>You get e-mails from <b>${senderName ?? organizationName}</b> about <b>${programName}</b>${addressOf(choice)}. What do you want to unsubscribe from?</p>
<form method="post">
${everythingButton(choice)}
<button class="second" formaction="${PROGRAM}">Only e-mails about ${programName}</button>
</form>`,
  )
}

const DONE = (choice: UnsubscriptionChoice, scope: UnsubscriptionScope) => {
  const { organizationName, programName } = choice
  const backButton = html`<button class="second" formaction="${NOTHING}">Get these e-mails again</button>`
  return htmlPage(
    200,
    "You are unsubscribed",
    scope === "organization"
      ? html`<p>You will get no more e-mails from <b>${organizationName}</b>${addressOf(choice)}. One that is on its way already may still arrive.</p>
<form method="post">${backButton}</form>`
      : html`<p>You will get no more e-mails about <b>${programName}</b>${addressOf(choice)}. One that is on its way already may still arrive.</p>
<p>Other programs of ${organizationName} may still write to you.</p>
<form method="post">
${everythingButton(choice)}
${backButton}
</form>`,
  )
}

const BACK = (choice: UnsubscriptionChoice) =>
  htmlPage(
    200,
    "You may get e-mails again",
    html`<p>You are no longer unsubscribed from <b>${choice.senderName ?? choice.organizationName}</b>${addressOf(choice)}. What you missed is not sent again.</p>
<form method="post"><button class="second" formaction="${EVERYTHING}">Unsubscribe</button></form>`,
  )

const TROUBLE = (scope: UnsubscriptionScope | "none") =>
  htmlPage(
    503,
    "Something went wrong",
    html`<p>${scope === "none" ? "You are still unsubscribed." : "You are not unsubscribed yet."} Please try again in a minute.</p>
<form method="post"><button formaction="?scope=${scope}">Try again</button></form>`,
  )

/**
 * The unsubscribe page, and the target of its button and of RFC 8058 one-click requests.
 *
 * Scanners follow links with GET, so only a POST unsubscribes. The body is ignored: the URL identifies the recipient, and its
 * query the scope. Without a query, as mail programs send it, the request is for the organization. When reloaded, the page shows the current
 * state and offers to undo it.
 */
export const unsubscribePages = Effect.gen(function* () {
  const readLink = yield* linkReader
  const unsubscriptions = yield* UnsubscriptionRepository
  const unavailable = yield* UnavailableLog
  const read = Effect.map(HttpServerRequest.HttpServerRequest, (request) => readLink("unsubscribe", request))

  /** Logs the reason for an incomplete page, except database outages, which are logged separately. */
  const logDefect = (message: string, defect: unknown) => {
    const failure = transientFailure(Cause.die(defect))
    return failure === undefined
      ? Effect.logError(message).pipe(Effect.annotateLogs({ errors: describeCause(Cause.die(defect)) }))
      : unavailable.count(failure)
  }

  /** Loads the recipient; undefined while the database is unavailable, because the button may work by then. */
  const findChoice = (link: TrackedLink) =>
    unsubscriptions.findChoice(link).pipe(
      Effect.map((choice) => (choice === undefined || choice.email !== null ? choice : NOBODY)),
      Effect.catchDefect((defect) =>
        Effect.as(logDefect("unsubscribe page shown without personal data", defect), NOBODY),
      ),
    )

  const show = Effect.gen(function* () {
    const link = yield* read
    const choice = link && (yield* findChoice(link))
    if (choice === undefined) return UNKNOWN_LINK
    return choice.unsubscribedFrom === null ? ASKED(choice) : DONE(choice, choice.unsubscribedFrom)
  })

  const unsubscribe = Effect.gen(function* () {
    const link = yield* read
    if (link === undefined) return UNKNOWN_LINK
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const named = new URLSearchParams(url.split("?")[1]).get("scope")
    const scope = named === "program" || named === "none" ? named : "organization"
    const stored = scope === "none" ? unsubscriptions.revoke(link) : unsubscriptions.ask(link, scope)
    return yield* stored.pipe(
      Effect.flatMap((known) => (known ? findChoice(link) : Effect.undefined)),
      Effect.map((choice) => {
        if (choice === undefined) return UNKNOWN_LINK
        return scope === "none" ? BACK(choice) : DONE(choice, choice.unsubscribedFrom ?? scope)
      }),
      Effect.catchDefect((defect) =>
        Effect.as(logDefect("an unsubscription could not be kept", defect), TROUBLE(scope)),
      ),
    )
  })

  return [
    ["GET", `${TRACKING_PATHS.unsubscribe}*`, show],
    ["POST", `${TRACKING_PATHS.unsubscribe}*`, unsubscribe],
  ] satisfies ReadonlyArray<PageRow<never>>
})
