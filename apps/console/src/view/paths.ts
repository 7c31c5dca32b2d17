import {
  CampaignId,
  DeliveryId,
  EndpointId,
  FailureGroupId,
  ImportId,
  KeyId,
  OperatorId,
  OrganizationId,
  ProgramId,
  RecipientId,
  ReplayId,
  SecretId,
  SenderId,
} from "@outreach/domain/Identifier"
import { mayActAs, type Operator, type StaffRole } from "@outreach/domain/operators/Operator"
import { Schema } from "effect"

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

/** The sections about the whole deployment, hidden from operators of one organization. */
export const DEPLOYMENT_SECTIONS: ReadonlyArray<Section> = ["system"]

/** Other paths about the whole deployment: their objects have no organization yet, or no id that determines it. */
const DEPLOYMENT_PATHS: ReadonlyArray<string> = ["/partners/new", "/senders/link-domain/remove"]

/** Reports whether a route doesn't exist for an operator of one organization. */
export const isDeploymentWide = ({ section, path }: { readonly section: Section; readonly path: string }): boolean =>
  DEPLOYMENT_SECTIONS.includes(section) || DEPLOYMENT_PATHS.includes(path)

/** The sections with pages for partners. */
const PARTNER_SECTIONS: ReadonlyArray<Section> = ["partners", "endpoints", "deliveries", "issues"]

/** The sections whose pages need a higher role than viewer. */
const SECTION_ROLES: Readonly<Partial<Record<Section, StaffRole>>> = { operators: "admin" }

/** The first page of an operator. */
export const homeOf = ({ role, organizationId }: Operator): string =>
  role === "partner" && organizationId !== null ? `/partners/${organizationId}` : "/"

interface NavigationLink {
  readonly section: Section
  readonly title: string
  readonly path: string
  readonly group: string
}

/** The sections of an operator, with their titles and first pages. */
export const sectionsOf = (operator: Operator): ReadonlyArray<NavigationLink> => {
  const own = { title: "Overview", path: homeOf(operator) }
  if (operator.role === "partner") {
    return PARTNER_SECTIONS.map((section) => ({
      section,
      ...SECTIONS[section],
      ...(section === "partners" && own),
      group: "",
    }))
  }
  const isBound = operator.organizationId !== null
  return (Object.keys(SECTIONS) as ReadonlyArray<Section>)
    .filter((section) => !isBound || !DEPLOYMENT_SECTIONS.includes(section))
    .filter((section) => mayActAs(operator.role, SECTION_ROLES[section] ?? "viewer"))
    .map((section) => ({ section, ...SECTIONS[section] }))
}

/** The sections of paths that start with another word. */
const OTHER_PATHS: Readonly<Record<string, Section>> = {
  "*": "today",
  people: "people",
  imports: "campaigns",
  "dead-letters": "issues",
  replays: "issues",
  keys: "partners",
  secrets: "partners",
}

export const sectionOf = (path: string): Section => {
  const [, first = ""] = path.split("/")
  const section = (Object.keys(SECTIONS) as ReadonlyArray<Section>).find((each) => SECTIONS[each].path === `/${first}`)
  const found = section ?? OTHER_PATHS[first]
  if (found === undefined) throw new Error(`No section has the path ${path}. Name one in OTHER_PATHS of paths.ts.`)
  return found
}

/** The parameters of paths. A name has the same meaning in each path. */
export const PATH_PARAMS = {
  campaign: CampaignId,
  delivery: DeliveryId,
  endpoint: EndpointId,
  event: Schema.NonEmptyString.check(Schema.isMaxLength(255)).pipe(Schema.annotate({ expected: "the id of an event" })),
  group: FailureGroupId,
  /** A recipient, which identifies a clinician. */
  id: RecipientId,
  import: ImportId,
  key: KeyId,
  operator: OperatorId,
  organization: OrganizationId,
  program: ProgramId,
  recipient: RecipientId,
  replay: ReplayId,
  secret: SecretId,
  sender: SenderId,
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
