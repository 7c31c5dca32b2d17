import type { Operator, OperatorRole } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import type { Inputs, InputsOf, Params, ParamsOf } from "./inputs.ts"
import { PATH_PARAMS, type PathParam, type Section, sectionOf } from "./paths.ts"

/** Who asks, and when. */
export interface RequestContext {
  readonly operator: Operator
  /** Names the session, and does not give it away. */
  readonly session: string
  /** The version of the record that a form was made from; empty if it carries none. */
  readonly version: string
  /** Unix milliseconds. */
  readonly now: number
}

/** An error that the operator is shown; a tag that ends in `NotFound` is answered with 404. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** What a page shows below its title. */
export interface PageContent {
  /** The title; foreign text in it is isolated. */
  readonly title: ComponentChildren
  /** The commands that show or do the same. */
  readonly commands: ReadonlyArray<string>
  readonly body: ComponentChildren
}

/** What an action answers: where to go on, with a sentence that says what was done, or a page, or a response of its own. */
export type ActionResult = { readonly to: string; readonly notice: string } | PageContent | Response

type Response = HttpServerResponse.HttpServerResponse

/** The names of a path's parameters. */
type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** The parameters of a path, as its address holds them. */
export type PathTexts<P extends string> = { readonly [Name in ParamNames<P>]: string }

type PathValues<P extends string> = ParamsOf<{
  readonly [Name in ParamNames<P> & PathParam]: (typeof PATH_PARAMS)[Name]
}>

/** What every route has; the path says its section and its parameters. */
interface Declared<P> {
  /** A path with `:name` for each parameter. */
  readonly path: P
  readonly section: Section
  /** The lowest role that may do this. */
  readonly role: OperatorRole
  readonly params: Params
}

// What parses the inputs is declared beside what takes them, so that its types are known there and nowhere else.
type Take<Input, A, E, R> = (input: Input, context: RequestContext) => Effect.Effect<A, E, R>

/** A page that is read with GET, and changes nothing. */
export interface Page<R, P = string> extends Declared<P> {
  readonly kind: "page"
  readonly query: Inputs
  readonly read: Take<never, PageContent, Refusal, R>
}

/** A document other than a page that is read with GET, such as a stream or the content of a frame. */
export interface Resource<R, P = string> extends Declared<P> {
  readonly kind: "resource"
  readonly query: Inputs
  /** The words of the command in the audit log, if the document shows personal data. */
  readonly command?: string
  readonly respond: Take<never, Response, Refusal, R>
}

/** Something that an operator does, or personal data that is shown, with POST. The audit log records it. */
export interface Action<R, P = string> extends Declared<P> {
  readonly kind: "action"
  /** The words of the command that does the same, as the audit log records them. */
  readonly command: string
  readonly fields: Inputs
  readonly run: Take<never, ActionResult, Refusal, R>
}

export type Route<R> = (Page<R> | Resource<R> | Action<R>) & { readonly path: `/${string}` }

export type ServicesOf<T> = T extends Route<infer R> ? R : never

type None = Record<never, never>

/** A path whose parameters are all known. */
type KnownPath<P extends string> = P & (ParamNames<P> extends PathParam ? unknown : never)

/** Declares a page; its role is `viewer` by default. */
export const definePage = <const P extends `/${string}`, E extends Refusal, R, const Q extends Inputs = None>(page: {
  readonly path: KnownPath<P>
  readonly role?: OperatorRole
  readonly query?: Q
  readonly read: Take<PathValues<P> & InputsOf<Q>, PageContent, E, R>
}): Page<R, P> => ({ kind: "page", role: "viewer", query: {}, ...declared(page.path), ...page })

/** Declares a document other than a page; its role is `viewer` by default. */
export const defineResource = <
  const P extends `/${string}`,
  E extends Refusal,
  R,
  const Q extends Inputs = None,
>(resource: {
  readonly path: KnownPath<P>
  readonly role?: OperatorRole
  readonly query?: Q
  readonly command?: string
  readonly respond: Take<PathValues<P> & InputsOf<Q>, Response, E, R>
}): Resource<R, P> => ({ kind: "resource", role: "viewer", query: {}, ...declared(resource.path), ...resource })

/** Declares an action. */
export const defineAction = <
  const P extends `/${string}`,
  E extends Refusal,
  R,
  const F extends Inputs = None,
>(action: {
  readonly path: KnownPath<P>
  readonly role: OperatorRole
  readonly command: string
  readonly fields?: F
  readonly run: Take<PathValues<P> & InputsOf<F>, ActionResult, E, R>
}): Action<R, P> => ({ kind: "action", fields: {}, ...declared(action.path), ...action })

const declared = (path: string) => ({
  section: sectionOf(path),
  params: Object.fromEntries(
    Array.from(path.matchAll(/:(\w+)/g), ([, name]) => [name, PATH_PARAMS[name as PathParam]]),
  ),
})

/** Returns a route's path with its parameters. */
export const pathTo = <P extends string>(route: { readonly path: P }, params: PathTexts<P>): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name as ParamNames<P>]))
