import type { Operator, OperatorRole } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import type { Inputs, InputsOf, Params, ParamsOf } from "./inputs.ts"

/** The parts of the console, in the order of its navigation. */
export const SECTIONS = {
  today: { title: "Today", path: "/" },
  campaigns: { title: "Campaigns", path: "/campaigns" },
  people: { title: "Find", path: "/find" },
  deliveries: { title: "Deliveries", path: "/deliveries" },
  issues: { title: "Issues", path: "/issues" },
  endpoints: { title: "Endpoints", path: "/endpoints" },
  partners: { title: "Partners", path: "/partners" },
  inbox: { title: "Inbox", path: "/inbox" },
  digest: { title: "Digest", path: "/digest" },
  suppressions: { title: "Suppressions", path: "/suppressions" },
  audit: { title: "Audit", path: "/audit" },
  system: { title: "System", path: "/system" },
} as const
export type Section = keyof typeof SECTIONS

/** The sections that show the deployment as a whole, which an operator of one organization does not see. */
export const DEPLOYMENT_SECTIONS: ReadonlyArray<Section> = ["system"]

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

/** What a page shows below its heading. */
export interface PageContent {
  readonly title: string
  /** The heading, where foreign text is part of it. Default the title. */
  readonly heading?: ComponentChildren
  /** The commands that show or do the same. */
  readonly commands: ReadonlyArray<string>
  readonly body: ComponentChildren
}

/** What an action answers: where to go on, with a sentence that says what was done, or a page, or a response of its own. */
export type ActionResult =
  | { readonly to: string; readonly notice: string }
  | { readonly page: PageContent }
  | { readonly response: HttpServerResponse.HttpServerResponse }

interface Common<P> {
  /** A path with `:name` for each parameter. */
  readonly path: `/${string}`
  readonly section: Section
  /** The lowest role that may do this. */
  readonly role: OperatorRole
  readonly params: P
}

// What parses the inputs is declared beside what takes them, so that its types are known there and nowhere else.
type Take<Input, A, E, R> = (input: Input, context: RequestContext) => Effect.Effect<A, E, R>

interface PageDefinition<P, Q, Read> extends Common<P> {
  readonly query: Q
  readonly read: Read
}

interface ResourceDefinition<P, Q, Respond> extends Common<P> {
  readonly query: Q
  /** The words of the command in the audit log, if the document shows personal data. */
  readonly command?: string
  readonly respond: Respond
}

interface ActionDefinition<P, F, Run> extends Common<P> {
  /** The words of the command that does the same, as the audit log records them. */
  readonly command: string
  readonly fields: F
  readonly run: Run
}

/** A page that is read with GET, and changes nothing. */
export interface Page<R> extends PageDefinition<Params, Inputs, Take<never, PageContent, Refusal, R>> {
  readonly kind: "page"
}

/** A document other than a page that is read with GET, such as a stream or the content of a frame. */
export interface Resource<R>
  extends ResourceDefinition<Params, Inputs, Take<never, HttpServerResponse.HttpServerResponse, Refusal, R>> {
  readonly kind: "resource"
}

/** Something that an operator does, or personal data that is shown, with POST. The audit log records it. */
export interface Action<R> extends ActionDefinition<Params, Inputs, Take<never, ActionResult, Refusal, R>> {
  readonly kind: "action"
}

/** A route of the console. */
export type Route<R> = Page<R> | Resource<R> | Action<R>

/** What a route needs. */
export type ServicesOf<T> = T extends Route<infer R> ? R : never

/** Declares a page. */
export const definePage = <const P extends Params, const Q extends Inputs, E extends Refusal, R>(
  page: PageDefinition<P, Q, Take<ParamsOf<P> & InputsOf<Q>, PageContent, E, R>>,
): Page<R> => ({ kind: "page", ...page })

/** Declares a document other than a page. */
export const defineResource = <const P extends Params, const Q extends Inputs, E extends Refusal, R>(
  resource: ResourceDefinition<P, Q, Take<ParamsOf<P> & InputsOf<Q>, HttpServerResponse.HttpServerResponse, E, R>>,
): Resource<R> => ({ kind: "resource", ...resource })

/** Declares an action. */
export const defineAction = <const P extends Params, const F extends Inputs, E extends Refusal, R>(
  action: ActionDefinition<P, F, Take<ParamsOf<P> & InputsOf<F>, ActionResult, E, R>>,
): Action<R> => ({ kind: "action", ...action })

/** Returns a route's path with its parameters. */
export const pathTo = (route: { readonly path: string }, params: Readonly<Record<string, string>>): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
