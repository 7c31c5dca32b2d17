import type { Access, Operator, StaffRole } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { PageElement } from "../components/layout.tsx"
import type { Inputs, InputsOf, Params, ParamsOf } from "./inputs.ts"
import type { Refusal } from "./PageError.ts"
import { PATH_PARAMS, type PathParam, type Section, sectionOf } from "./paths.ts"
import type { Upload } from "./readForm.ts"

export interface RequestContext {
  readonly operator: Operator
  /** The version of the record that a form was made from; empty if it carries none. */
  readonly version: string
  /** Unix milliseconds. */
  readonly now: number
  /** The file of a form that takes one. */
  readonly file: Upload | undefined
}

type Response = HttpServerResponse.HttpServerResponse

/**
 * What a route answers: a page; a response of its own; or, if it did something, a sentence that says so, which is shown above the page of the
 * action's path or of another one.
 */
export type Answer = PageElement | Response | string | { readonly to: string; readonly notice: string }

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** The parameters of a path, as its address holds them. */
export type PathTexts<P extends string> = { readonly [Name in ParamNames<P>]: string }

export type PathValues<P extends string> = ParamsOf<{
  readonly [Name in ParamNames<P> & PathParam]: (typeof PATH_PARAMS)[Name]
}>

/** The input that a refusal is about: always the same one, or the one that the error names. */
type FaultyInput<Name = string> = Name | ((error: never) => Name)

export interface Route<R, P = `/${string}`> extends Access {
  /** A page is read with GET, as is a resource: another document, such as a file or the content of a frame. An action is a POST. */
  readonly kind: "page" | "resource" | "action"
  /** A path with `:name` for each parameter, which says the section. */
  readonly path: P
  readonly section: Section
  readonly params: Params
  /** The values of the query, or of the action's form. */
  readonly inputs: Inputs
  /** The words of the command that does the same, as the audit log records them; undefined if nothing is recorded. */
  readonly command?: string
  /** The inputs at which refusals of the domain are shown, by the tags of their errors. */
  readonly faults?: Readonly<Record<string, FaultyInput>>
  /** The most bytes of an action's form. Default 64 KiB. */
  readonly maxBytes?: number
  /** Whether an action only reads, so that its form may be sent again. */
  readonly isRepeatable?: boolean
  /** Whether a page reads everything as of one moment; default true. One that waits for the network reads with `consistentRead`. */
  readonly isConsistent?: boolean
  // What parses the inputs is declared beside what takes them, so that its types are known there and nowhere else.
  readonly run: (input: never, context: RequestContext) => Effect.Effect<Answer, Refusal, R>
}

export type ServicesOf<T> = T extends Route<infer R> ? R : never

export type None = Record<never, never>

export type KnownPath<P extends string> = P & (ParamNames<P> extends PathParam ? unknown : never)

interface Declaration<P extends string, I extends Inputs, Context, Result, E, R> {
  /** Default `viewer`. */
  readonly role?: StaffRole
  /** Whether partners may use it, each for the things of its own organization. Default false: for them it does not exist. */
  readonly forPartners?: true
  readonly inputs?: I
  readonly run: (input: PathValues<P> & InputsOf<I>, context: Context) => Effect.Effect<Result, E, R>
}

const declare = <R, P extends string>(
  kind: Route<R>["kind"],
  path: P,
  route: Pick<Route<R>, "run"> & Partial<Route<R>>,
): Route<R, P> => ({
  role: "viewer",
  inputs: {},
  ...route,
  kind,
  path,
  section: sectionOf(path),
  params: Object.fromEntries(
    Array.from(path.matchAll(/:(\w+)/g), ([, name]) => [name, PATH_PARAMS[name as PathParam]]),
  ),
})

/** Declares a page, which changes nothing. */
export const definePage = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  page: Declaration<P, I, RequestContext, PageElement, E, R> & Pick<Route<R>, "isConsistent">,
): Route<R, P> => declare("page", path, page)

export const defineResource = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  resource: Declaration<P, I, RequestContext, Response, E, R> & { readonly command?: string },
): Route<R, P> => declare("resource", path, resource)

/** Declares what an operator does, or personal data that is shown, with the words of the command that does the same. */
export const defineAction = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  command: string,
  action: Declaration<P, I, RequestContext, Answer, E, R> & {
    readonly role: StaffRole
    readonly faults?: Readonly<Record<string, FaultyInput<keyof I & string>>>
  } & Pick<Route<R>, "isRepeatable" | "maxBytes">,
): Route<R, P> => declare("action", path, { ...action, command })

/** Whether a page shows personal data, and the action that shows them. Its path has the page's parameters, and its form asks for nothing. */
export interface Masking {
  readonly isShown: boolean
  readonly show: Pick<Route<unknown, string>, "path" | "inputs" | keyof Access>
}

/** Declares a page that masks personal data, and the action `show` below it that shows them to operators, as a command does. */
export const defineMaskedPage = <const P extends `/${string}`, E extends Refusal, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  command: string,
  page: Declaration<P, I, RequestContext & Masking, PageElement, E, R> & {
    /** What the action takes besides the inputs of the page. */
    readonly confirmed?: Inputs
  },
): readonly [Route<R, P>, Route<R, `${P}/show`>] => {
  const { inputs = {}, confirmed, forPartners = false } = page
  const showPath = `${path as P}/show` as const
  const access: Access = { role: "operator", forPartners }
  const run = (isShown: boolean) => (input: never, context: RequestContext) =>
    page.run(input, {
      ...context,
      isShown,
      show: { path: pathTo<string>({ path: showPath }, input), ...access, inputs: {} },
    })
  return [
    declare("page", path, { inputs, forPartners, run: run(false) }),
    declare("action", showPath, {
      ...access,
      inputs: { ...inputs, ...confirmed },
      command,
      isRepeatable: true,
      run: run(true),
    }),
  ]
}

export const pathTo = <P extends string>(route: { readonly path: P }, params: PathTexts<P>): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name as ParamNames<P>]))
