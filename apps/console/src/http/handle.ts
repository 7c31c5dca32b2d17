import { OwnedIds } from "@outreach/backoffice/operators/OwnedIds"
import { mayUse } from "@outreach/domain/operators/Operator"
import { Clock, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import type { View } from "../components/values.tsx"
import { Sessions, type SignedIn } from "../signIn/Sessions.ts"
import { answerErrors } from "./answerErrors.ts"
import { audited } from "./audited.ts"
import { parseInputs } from "./inputs.ts"
import { isFromAnotherSite, openAgain, readNotice, redirectWithNotice, withoutNotice } from "./notice.tsx"
import { PageError, type Refusal } from "./PageError.ts"
import { DEPLOYMENT_SECTIONS, homeOf } from "./paths.ts"
import type { Route } from "./Route.ts"
import { forged, formToken, isFormToken, readForm } from "./readForm.ts"
import { renderPage } from "./renderPage.tsx"

/**
 * Creates the handler of a route: the same steps in the same order, which no route can skip.
 *
 * Session; role; form and its token; whose the named things are; path, query and fields; audit log; the route's own part; rendering.
 */
export const handle = <R>(route: Route<R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { deployment } = yield* ConsoleConfig
    const sessions = yield* Sessions
    let signedIn: SignedIn | undefined
    let view: View | undefined
    const answer = Effect.gen(function* () {
      signedIn = yield* sessions.find(request)
      if (signedIn === undefined) {
        if (route.kind !== "page") return yield* signedOut
        if (isFromAnotherSite(request)) return openAgain(request.url)
        return HttpServerResponse.empty({ status: 303, headers: { location: "/sign-in" } })
      }
      view = {
        operator: signedIn.operator,
        formToken: formToken(signedIn.sessionToken),
        now: yield* Clock.currentTimeMillis,
        address: request.url,
        deployment,
      }
      return yield* respond(route, signedIn, view)
    })
    const response = yield* answerErrors(route.path, () => view)(answer)
    return signedIn?.isNew ? sessions.setCookie(response, signedIn.sessionToken) : response
  })

const respond = Effect.fnUntraced(function* <R>(route: Route<R>, { operator, sessionToken }: SignedIn, view: View) {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (operator.organizationId !== null && DEPLOYMENT_SECTIONS.includes(route.section)) {
    return yield* PageError.notFound()
  }
  if (route.path === "/" && homeOf(operator) !== "/") {
    return HttpServerResponse.empty({ status: 303, headers: { location: homeOf(operator) } })
  }
  if (!mayUse(operator, route)) {
    // A partner does not learn what there is for others.
    if (operator.role === "partner") return yield* PageError.notFound()
    return yield* PageError.of(
      403,
      "Not allowed",
      `This needs the role ${route.role}; yours is ${operator.role}. An admin can do it, or change your role.`,
    )
  }

  const form = route.kind === "action" ? yield* readForm : undefined
  if (form !== undefined && !isFormToken(sessionToken, form.get("token") ?? undefined)) return yield* forged
  const params = (yield* HttpRouter.params) as Readonly<Record<string, string>>
  const given = form ?? new URLSearchParams(request.url.split("?")[1])
  if (operator.organizationId !== null) {
    const ids = [...Object.values(params), ...given.values()].flatMap((text) => text.match(ID) ?? [])
    if (!(yield* (yield* OwnedIds).areOwned(operator.organizationId, ids))) return yield* PageError.notFound()
    // What is asked for without an organization is asked for of the operator's own.
    if ("organization" in route.inputs) given.set("organization", operator.organizationId)
  }
  const path = yield* Effect.mapError(
    Effect.fromResult(parseInputs(route.params, Object.entries(params))),
    PageError.notFound,
  )
  if (Object.values(path).includes(undefined)) return yield* PageError.notFound()
  const inputs = yield* Effect.mapError(Effect.fromResult(parseInputs(route.inputs, given)), (faults) =>
    PageError.of(400, "Not valid", ...faults),
  )
  const input = { ...path, ...inputs } as never

  const context = { operator, session: view.formToken, version: form?.get("version") ?? "", now: view.now }
  const { command } = route
  const isAction = route.kind === "action"
  if (isAction) yield* (yield* Sessions).countAction(operator)
  const run = route.run(input, context)
  const answer = yield* refusing(
    command === undefined ? run : audited(command, input, context, run),
    isAction ? 409 : 400,
    isAction ? "Not done" : "Not shown",
  )
  if (HttpServerResponse.isHttpServerResponse(answer)) return answer
  if (typeof answer === "string") return redirectWithNotice(request.url.replace(/\/[^/]*$/, ""), answer)
  if ("to" in answer) return redirectWithNotice(answer.to, answer.notice)
  const notice = isAction ? undefined : readNotice(request)
  const page = renderPage({ ...view, section: route.section, notice }, answer)
  return notice === undefined ? page : withoutNotice(page)
})

/** The ids in a text; more than one in a list. */
const ID = /\b[a-z]{3}_[0-9a-f]{32}\b/g

/** Shows the operator a refusal of the domain as it is. */
const refusing = <A, E extends Refusal, R>(effect: Effect.Effect<A, E, R>, status: number, title: string) =>
  Effect.mapError(effect, (error: Refusal) => {
    if (error instanceof PageError) return error
    return error._tag.endsWith("NotFound")
      ? PageError.of(404, "Not found", error.message)
      : PageError.of(status, title, error.message)
  })

const signedOut = PageError.of(401, "Signed out", "Your session has ended. Sign in again, and repeat what you did.")
