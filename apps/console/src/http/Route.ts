import type { Operator, OperatorRole } from "@outreach/domain/operators/Operator"
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import type { Inputs, InputsOf, Params, ParamsOf } from "./inputs.ts"
import { PATH_PARAMS, type PathParam, type Section, sectionOf } from "./paths.ts"

export interface RequestContext {
  readonly operator: Operator
  /** Names the session, and does not give it away. */
  readonly session: string
  /** The version of the record that a form was made from; empty if it carries none. */
  readonly version: string
  /** Unix milliseconds. */
  readonly now: number
}

/** An error that the operator is shown; a tag that ends in `NotFound` is answered with 404. The audit log records the tag. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** Fails with an error that is the console's own. */
export const refuse = (_tag: string, message: string): Effect.Effect<never, Refusal> => Effect.fail({ _tag, message })

export interface PageContent {
  /** The title; foreign text in it is isolated. */
  readonly title: ComponentChildren
  /** The commands that show or do the same. */
  readonly commands: ReadonlyArray<string>
  readonly body: ComponentChildren
}

type Response = HttpServerResponse.HttpServerResponse

/**
 * What an action answers: a sentence that says what was done, which the page above the action's path shows, or another page, or what is shown
 * at once, or a response of its own.
 */
export type ActionResult = string | { readonly to: string; readonly notice: string } | PageContent | Response

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

interface RouteOf<Kind, Result, R, P> {
  readonly kind: Kind
  /** A path with `:name` for each parameter, which says the section. */
  readonly path: P
  readonly section: Section
  readonly role: OperatorRole
  readonly params: Params
  /** The values of the query, or of the action's form. */
  readonly inputs: Inputs
  /** The words of the command that does the same, as the audit log records them; undefined if nothing is recorded. */
  readonly command?: string
  // What parses the inputs is declared beside what takes them, so that its types are known there and nowhere else.
  readonly run: (input: never, context: RequestContext) => Effect.Effect<Result, Refusal, R>
}

/** A page that is read with GET, and changes nothing. */
export type Page<R, P = string> = RouteOf<"page", PageContent, R, P>

/** A document other than a page that is read with GET, such as a stream or the content of a frame. */
export type Resource<R, P = string> = RouteOf<"resource", Response, R, P>

/** Something that an operator does, or personal data that is shown, with POST. The audit log records it. */
export type Action<R, P = string> = RouteOf<"action", ActionResult, R, P> & { readonly command: string }

export type Route<R> = (Page<R> | Resource<R> | Action<R>) & { readonly path: `/${string}` }

export type ServicesOf<T> = T extends Route<infer R> ? R : never

type None = Record<never, never>

type KnownPath<P extends string> = P & (ParamNames<P> extends PathParam ? unknown : never)

interface Declaration<P extends string, I extends Inputs, Context, Result, E, R> {
  /** Default `viewer`. */
  readonly role?: OperatorRole
  readonly inputs?: I
  readonly run: (input: PathValues<P> & InputsOf<I>, context: Context) => Effect.Effect<Result, E, R>
}

const declare = <Kind extends string, P extends string, T>(kind: Kind, path: P, route: T) => ({
  kind,
  path,
  section: sectionOf(path),
  role: "viewer",
  inputs: {},
  params: Object.fromEntries(
    Array.from(path.matchAll(/:(\w+)/g), ([, name]) => [name, PATH_PARAMS[name as PathParam]]),
  ),
  ...route,
})

export const definePage = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  page: Declaration<P, I, RequestContext, PageContent, E, R>,
): Page<R, P> => declare("page", path, page) as Page<R, P>

export const defineResource = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  resource: Declaration<P, I, RequestContext, Response, E, R> & { readonly command?: string },
): Resource<R, P> => declare("resource", path, resource) as Resource<R, P>

/** Declares an action, with the words of the command that does the same. */
export const defineAction = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  command: string,
  action: Declaration<P, I, RequestContext, ActionResult, E, R> & { readonly role: OperatorRole },
): Action<R, P> => declare("action", path, { ...action, command }) as Action<R, P>

/** Whether a page shows personal data, and the action that shows them. Its path has the page's parameters, and its form asks for nothing. */
interface Masking {
  readonly isShown: boolean
  readonly show: Pick<Action<unknown>, "path" | "role" | "inputs">
}

/** Declares a page that masks personal data, and the action `show` below it that shows them to operators, as a command does. */
export const defineMaskedPage = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  command: string,
  page: Declaration<P, I, RequestContext & Masking, PageContent, E, R> & {
    /** What the action takes besides the inputs of the page. */
    readonly confirmed?: Inputs
  },
): readonly [Page<R, P>, Action<R, `${P}/show`>] => {
  const { inputs = {}, confirmed } = page
  const action = { path: `${path as P}/show`, role: "operator", inputs: { ...inputs, ...confirmed } } as const
  const run = (isShown: boolean) => (input: never, context: RequestContext) =>
    page.run(input, { ...context, isShown, show: { ...action, inputs: {}, path: pathTo<string>(action, input) } })
  return [
    declare("page", path, { inputs, run: run(false) }) as Page<R, P>,
    declare("action", action.path, { ...action, command, run: run(true) }) as Action<R, `${P}/show`>,
  ]
}

/** Returns a route's path with its parameters. */
export const pathTo = <P extends string>(route: { readonly path: P }, params: PathTexts<P>): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name as ParamNames<P>]))
