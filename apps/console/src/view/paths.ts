import { Identifier, type Kind, PREFIXES } from "@outreach/domain/Identifier"
import { isPartner, mayActAs, type Operator, type StaffRole } from "@outreach/domain/operators/Operator"
import { Record, Schema, Struct } from "effect"

/** The sections in the order of the navigation, by group. */
export const SECTIONS = {
  today: { title: "Today", path: "/", group: "Now" },
  issues: { title: "Issues", path: "/issues", group: "Now" },
  people: { title: "Find", path: "/find", group: "Now" },
  numbers: { title: "Numbers", path: "/numbers", group: "Outreach" },
  campaigns: { title: "Campaigns", path: "/campaigns", group: "Outreach" },
  programs: { title: "Programs", path: "/programs", group: "Outreach" },
  senders: { title: "Senders", path: "/senders", group: "Outreach" },
  suppressions: { title: "Suppressions", path: "/suppressions", group: "Outreach" },
  partners: { title: "Partners", path: "/partners", group: "Partners" },
  inbox: { title: "Inbox", path: "/inbox", group: "Partners" },
  endpoints: { title: "Endpoints", path: "/endpoints", group: "Webhooks" },
  events: { title: "Events", path: "/events", group: "Webhooks" },
  deliveries: { title: "Deliveries", path: "/deliveries", group: "Webhooks" },
  audit: { title: "Audit", path: "/audit", group: "Operate" },
  operators: { title: "Operators", path: "/operators", group: "Operate" },
  system: { title: "System", path: "/system", group: "Operate" },
} as const
export type Section = keyof typeof SECTIONS
const ALL_SECTIONS = Struct.keys(SECTIONS)

/** The paths about the whole deployment, with those below them: their objects have no organization yet, or no id that determines it. */
const DEPLOYMENT_PATHS: ReadonlyArray<string> = ["/system", "/partners/new", "/senders/link-domain/remove"]

/** Reports whether a route doesn't exist for an operator of one organization. */
export const isDeploymentWide = ({ path }: { readonly path: string }): boolean =>
  DEPLOYMENT_PATHS.some((each) => path === each || path.startsWith(`${each}/`))

/** The sections with pages for partners, with their titles. */
const PARTNER_SECTIONS = {
  partners: "Overview",
  endpoints: SECTIONS.endpoints.title,
  deliveries: SECTIONS.deliveries.title,
  events: "Events sent to you",
  inbox: "Events you sent",
  issues: SECTIONS.issues.title,
  people: SECTIONS.people.title,
} as const satisfies Partial<Record<Section, string>>

/** Returns the title of a section for an operator. */
export const titleOf = (section: Section, operator: Operator): string =>
  (isPartner(operator) ? (PARTNER_SECTIONS as Partial<Record<Section, string>>)[section] : undefined) ??
  SECTIONS[section].title

/** The sections whose pages need a higher role than viewer. */
const SECTION_ROLES: Readonly<Partial<Record<Section, StaffRole>>> = { operators: "admin" }

export const homeOf = (operator: Operator): string =>
  isPartner(operator) && operator.organizationId !== null ? `/partners/${operator.organizationId}` : "/"

type NavigationLink = { readonly section: Section } & Readonly<Record<"title" | "path" | "group", string>>

/** The sections of an operator, with their titles and first pages. */
export const sectionsOf = (operator: Operator): ReadonlyArray<NavigationLink> => {
  if (isPartner(operator)) {
    return Struct.keys(PARTNER_SECTIONS).map((section) => ({
      section,
      title: titleOf(section, operator),
      path: section === "partners" ? homeOf(operator) : SECTIONS[section].path,
      group: "",
    }))
  }
  return ALL_SECTIONS.map((section) => ({ section, ...SECTIONS[section] }))
    .filter((link) => operator.organizationId === null || !isDeploymentWide(link))
    .filter(({ section }) => mayActAs(operator.role, SECTION_ROLES[section] ?? "viewer"))
}

/** The sections of paths that start with another word. */
const OTHER_PATHS: Readonly<Record<string, Section>> = {
  "*": "today",
  people: "people",
  imports: "campaigns",
  erasures: "audit",
  "dead-letters": "issues",
  replays: "issues",
  keys: "partners",
  secrets: "partners",
}

export const sectionOf = (path: string): Section => {
  const [, first = ""] = path.split("/")
  const found = ALL_SECTIONS.find((section) => SECTIONS[section].path === `/${first}`) ?? OTHER_PATHS[first]
  if (found === undefined) throw new Error(`No section has the path ${path}. Name one in OTHER_PATHS of paths.ts.`)
  return found
}

const IDENTIFIERS = Record.map(PREFIXES, (_, kind) => Identifier(kind)) as {
  readonly [K in Kind]: ReturnType<typeof Identifier<K>>
}

/** The parameters of paths: the id of an object by its kind. A name has the same meaning in each path. */
export const PATH_PARAMS = {
  ...IDENTIFIERS,
  event: Schema.NonEmptyString.check(Schema.isMaxLength(255)).pipe(Schema.annotate({ expected: "the id of an event" })),
  group: IDENTIFIERS.failureGroup,
  /** A recipient, which identifies a clinician. */
  id: IDENTIFIERS.recipient,
} as const
export type PathParam = keyof typeof PATH_PARAMS

export type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** The parameters of a path, decoded from the URL. */
export type PathTexts<P extends string> = { readonly [Name in ParamNames<P>]: string }

export const pathTo = <P extends string>(route: { readonly path: P }, params: PathTexts<P>): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name as ParamNames<P>]))
