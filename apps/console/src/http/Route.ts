import type { AnyField } from "@outreach/backoffice/operations/Field"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import type { Access, Operator } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { PageElement } from "../components/layout.tsx"
import type { Inputs, InputsOf } from "../view/inputs.ts"
import { PATH_PARAMS, type ParamNames, type PathParam, pathTo, type Section, sectionOf } from "../view/paths.ts"
import type { Masking } from "../view/View.ts"
import type { Upload } from "./readForm.ts"

export interface RequestContext {
  readonly operator: Operator
  /** The version of the record that a form was made from; empty without one. */
  readonly version: string
  /** Unix milliseconds. */
  readonly now: number
  /** The uploaded file. */
  readonly file: Upload | undefined
  /** The texts of the inputs as given. */
  readonly texts: URLSearchParams
}

type Response = HttpServerResponse.HttpServerResponse

/**
 * The result of a route: a page; another response; or for an action a sentence about its effect, shown above another page. By default,
 * that is the page of the action's path.
 */
type RouteResult = PageElement | Response | { readonly to?: string | undefined; readonly notice: string }

type PathValues<P extends string> = {
  readonly [Name in ParamNames<P> & PathParam]: (typeof PATH_PARAMS)[Name]["Type"]
}

/** The input that an error concerns: always the same, or named by the error. */
type FaultyInput<Name = string> = Name | ((error: never) => Name)

export interface Route<R, P = `/${string}`> extends Access {
  /** A page and a resource (another document, such as a file or the content of a frame) are read with GET. An action is a POST. */
  readonly kind: "page" | "resource" | "action"
  /** A path with `:name` for each parameter. It determines the section. */
  readonly path: P
  readonly section: Section
  readonly params: Inputs
  /** The values of the query, or of the action's form. */
  readonly inputs: Inputs
  /** The words of the equivalent command, for the audit log; undefined if nothing is recorded. */
  readonly command?: string
  /** Flags of that command that are no inputs. */
  readonly flags?: Readonly<Record<string, true>>
  /** The inputs that show errors of the domain, by tag. */
  readonly faults?: Readonly<Record<string, FaultyInput>>
  /** Maximum bytes of an action's form. Default 64 KiB. */
  readonly maxBytes?: number
  /** Whether an action only reads, so that its form can be submitted again. */
  readonly isRepeatable?: boolean
  /** Whether a page reads everything as of one moment; default true. A page that waits for the network uses `consistentRead` itself. */
  readonly isConsistent?: boolean
  // Parser and use of the inputs are declared together, so that their types match.
  readonly run: (input: never, context: RequestContext) => Effect.Effect<RouteResult, TaggedFailure, R>
}

export type ServicesOf<T> = T extends Route<infer R> ? R : never

export type None = Record<never, never>

export type KnownPath<P extends string> = P & (ParamNames<P> extends PathParam ? unknown : never)

/** The default role is `viewer`. By default, a route doesn't exist for partners. */
interface Declaration<P extends string, I extends Inputs, Context, Result, R> extends Partial<Access> {
  readonly inputs?: I
  readonly run: (input: PathValues<P> & InputsOf<I>, context: Context) => Effect.Effect<Result, TaggedFailure, R>
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

/** Declares a read-only page. */
export const definePage = <const P extends `/${string}`, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  page: Declaration<P, I, RequestContext, PageElement, R> & Pick<Route<R>, "isConsistent">,
): Route<R, P> => declare("page", path, page)

export const defineResource = <const P extends `/${string}`, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  resource: Declaration<P, I, RequestContext, Response, R> & { readonly command?: string },
): Route<R, P> => declare("resource", path, resource)

/** The operation of an action: the words of its command, the label of its button, and who may run it. */
interface Equivalent extends Access {
  readonly command: string
  readonly label: string
}

/** Declares an action, or a display of personal data, by the equivalent operation. */
export const defineAction = <const P extends `/${string}`, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  { command, label, role, forPartners = false }: Equivalent,
  action: Declaration<P, I, RequestContext, RouteResult, R> & {
    readonly faults?: Readonly<Record<string, FaultyInput<keyof I & string>>>
  } & Pick<Route<R>, "flags" | "isRepeatable" | "maxBytes">,
): Route<R, P> & { readonly form: { readonly label: string } } => ({
  ...declare("action", path, { role, forPartners, ...action, command }),
  form: { label },
})

/** A command that shows personal data, maybe only with the flag `--reveal`. */
export interface Revealing {
  readonly command: string
  readonly input: { readonly reveal?: AnyField }
}

/** Declares a page that masks personal data, and below it the action `show` that reveals it to operators, as a command does. */
export const defineMaskedPage = <const P extends `/${string}`, R, const I extends Inputs = None>(
  path: KnownPath<P>,
  { command, input: { reveal } }: Revealing,
  page: Declaration<P, I, RequestContext & Masking, PageElement, R>,
): readonly [Route<R, P>, Route<R, `${P}/show`>] => {
  const { inputs = {}, forPartners = false } = page
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
      inputs,
      command,
      ...(reveal && { flags: { reveal: true } }),
      isRepeatable: true,
      run: run(true),
    }),
  ]
}
