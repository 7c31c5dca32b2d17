import { consistentRead } from "@outreach/backoffice/consistentRead"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import { ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { isPartner, mayUse, type Operator } from "@outreach/domain/operators/Operator"
import { Clock, Effect } from "effect"
import { type FindMyWay, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { Sessions, type SignedIn } from "../signIn/Sessions.ts"
import { controlOf, parseInputs, takesFile } from "../view/inputs.ts"
import { homeOf, isDeploymentWide } from "../view/paths.ts"
import type { View } from "../view/View.ts"
import { audited } from "./audited.ts"
import { isFromAnotherSite, openAgain, readNotice, redirectWithNotice, withoutNotice } from "./notice.tsx"
import { OpenCounts } from "./OpenCounts.ts"
import { PageError } from "./PageError.ts"
import type { Route } from "./Route.ts"
import { forged, formToken, isFormToken, readForm, readUpload, type SentForm } from "./readForm.ts"
import { isLocalPath } from "./rejectAmbiguousRequests.ts"
import { renderErrors, renderPage, renderSignedOut } from "./renderPage.tsx"

/** The pages by their paths. */
export type Pages<R> = FindMyWay.Router<Route<R>>

/**
 * Creates the handler of a route with the same steps in the same order, which no route can skip:
 *
 * Session; role; form and its token; access to the objects; path, query and fields; audit log; the route itself; rendering. A
 * rejected action responds with the page of its form.
 */
export const handle = <R>(route: Route<R>, pages: Pages<R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { deployment } = yield* ConsoleConfig
    const sessions = yield* Sessions
    const sent =
      route.kind === "action" ? Effect.orElseSucceed(readForm(route.maxBytes), () => undefined) : Effect.undefined
    let signedIn: SignedIn | undefined
    let view: View | undefined
    const answer = Effect.gen(function* () {
      signedIn = yield* sessions.find(request)
      if (signedIn === undefined) {
        if (route.kind === "action") return renderSignedOut(request.url, yield* sent)
        if (route.kind === "resource") return yield* signedOut
        if (isFromAnotherSite(request)) return openAgain(request.url)
        return HttpServerResponse.empty({ status: 303, headers: { location: "/sign-in" } })
      }
      view = {
        operator: signedIn.operator,
        formToken: formToken(signedIn.sessionToken),
        now: yield* Clock.currentTimeMillis,
        page: route.kind === "action" ? request.url.replace(/\/[^/]*$/, "") : request.url,
        deployment,
        section: route.section,
      }
      const params = yield* HttpRouter.params
      return route.kind === "action"
        ? yield* act(route, params, view, pages)
        : yield* respond(route, params, view, queryOf(request.url))
    })
    const response = yield* renderErrors(route.path, () => view, sent)(answer)
    return signedIn?.isNew ? sessions.setCookie(response, signedIn.sessionToken) : response
  })

const queryOf = (address: string): SentForm => ({ values: new URLSearchParams(address.split("?")[1]) })

/** The parameters in a path; undefined if one can't be decoded. */
type PathParams = Readonly<Record<string, string | undefined>>

/** Runs a form's action, or shows its page again with the errors. */
const act = Effect.fnUntraced(function* <R>(route: Route<R>, params: PathParams, view: View, pages: Pages<R>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* assertAllowed(route, view.operator)
  const form: SentForm = takesFile(route.inputs) ? yield* readUpload : { values: yield* readForm(route.maxBytes) }
  const isOfSession = isFormToken(view.formToken, form.values)
  const answer = isOfSession ? respond(route, params, view, form) : Effect.fail(forged)
  return yield* Effect.catchTag(answer, "PageError", (error) => {
    const address = form.values.get("page") ?? ""
    const page = isLocalPath(address) ? pages.find("GET", address) : undefined
    if (page === undefined) return Effect.fail(error)
    const rejected = { action: request.url, values: form.values, error, isShown: false }
    const again = { ...view, page: address, rejected }
    return Effect.mapError(respond(page.handler, page.params, again, queryOf(address)), () => error)
  })
})

const assertAllowed = Effect.fnUntraced(function* (route: Route<unknown>, operator: Operator) {
  if (operator.organizationId !== null && isDeploymentWide(route)) {
    return yield* PageError.notFound()
  }
  if (mayUse(operator, route)) return
  // A partner must not learn about objects of other organizations.
  if (isPartner(operator)) return yield* PageError.notFound()
  return yield* PageError.of(
    403,
    "Not allowed",
    `This requires the role ${route.role}; yours is ${operator.role}. Ask an admin to do it or to change your role.`,
  )
})

const respond = Effect.fnUntraced(function* <R>(
  route: Route<R>,
  params: PathParams,
  view: View,
  { values: given, file }: SentForm,
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { operator } = view
  if (route.path === "/" && homeOf(operator) !== "/") {
    return HttpServerResponse.empty({ status: 303, headers: { location: homeOf(operator) } })
  }
  yield* assertAllowed(route, operator)
  if (operator.organizationId !== null) {
    const named = [...given].flatMap(([name, text]) => (WITHOUT_OBJECTS.includes(name) ? [] : [text]))
    const ids = [...Object.values(params), ...named].flatMap((text) => text?.match(ID) ?? [])
    if (!(yield* (yield* ObjectFinder).areOwned(operator.organizationId, ids))) return yield* PageError.notFound()
    // Without an organization, the operator's own is used.
    if ("organization" in route.inputs) given.set("organization", operator.organizationId)
  }
  const path = parseInputs(route.params, Object.entries(params))
  if (Object.keys(path.faults).length > 0 || Object.values(path.values).includes(undefined)) {
    return yield* PageError.notFound()
  }
  const { values, faults } = parseInputs(route.inputs, given)
  const isAction = route.kind === "action"
  const isFaulty = Object.keys(faults).length > 0
  // The page shows invalid filters with their errors, and applies the valid ones.
  const isShownAgain = route.kind === "page" && Object.keys(faults).every((name) => controlOf(route.inputs[name]!))
  const invalid = new PageError({ status: 400, title: "Invalid input", messages: Object.values(faults), faults })
  if (isFaulty && !isShownAgain) return yield* invalid
  const input = { ...path.values, ...values } as never

  const context = { operator, version: given.get("version") ?? "", now: view.now, file, texts: given }
  const { command, flags } = route
  if (isAction) yield* (yield* Sessions).countAction(operator)
  const submission = isAction && !route.isRepeatable ? (given.get("submission") ?? undefined) : undefined
  const run = asPageErrors(route.run(input, context), route)
  const answer =
    command !== undefined
      ? yield* audited(command, { ...(input as object), ...flags }, { operator, submission }, run)
      : route.kind === "page" && route.isConsistent !== false
        ? yield* consistentRead(run)
        : yield* run
  if (HttpServerResponse.isHttpServerResponse(answer)) return answer
  if ("notice" in answer) return redirectWithNotice(answer.to ?? view.page, answer.notice)
  const notice = isAction || view.rejected ? undefined : readNotice(request)
  const rejectedFilters = { action: view.page.split("?")[0]!, values: given, error: invalid, isShown: false }
  const { rejected = isFaulty ? rejectedFilters : undefined } = view
  const open = yield* (yield* OpenCounts).of(operator.organizationId)
  const page = renderPage({ ...view, notice, rejected, open }, answer)
  // Without a form that shows the invalid filters, the page would apply to more objects than intended.
  if (isFaulty && rejected?.isShown === false) return yield* invalid
  return notice === undefined ? page : withoutNotice(page)
})

/** Inputs in which an id needs no owner: the position in a list may be that of a row without an organization, and a partner's texts may look like ids. */
const WITHOUT_OBJECTS = ["after", "url", "headers"]

/** The ids in a text, which may be a list. */
const ID = /\b[a-z]{3}_[0-9a-f]{32}\b/g

/** Shows the operator an error of the domain unchanged, at the input that the route declares for it. */
const asPageErrors = <A, E extends TaggedFailure, R>(
  effect: Effect.Effect<A, E, R>,
  { kind, faults }: Route<unknown>,
) =>
  Effect.mapError(effect, (error: TaggedFailure) => {
    if (error instanceof PageError) return error
    const { _tag, message } = error
    const fault = faults?.[_tag]
    const name = typeof fault === "function" ? fault(error as never) : fault
    if (name !== undefined) {
      return new PageError({ status: 409, title: "Action failed", messages: [message], faults: { [name]: message } })
    }
    if (_tag.endsWith("NotFound")) return PageError.of(404, "Not found", message)
    return kind === "action"
      ? PageError.of(409, "Action failed", message)
      : PageError.of(400, "Can't show the page", message)
  })

const signedOut = PageError.of(401, "Signed out", "Your session has expired. Sign in and try again.")
