import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
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

/** The sections in the order of the navigation, by its groups. */
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
  digest: { title: "Digest", path: "/digest", group: "Partners" },
  endpoints: { title: "Endpoints", path: "/endpoints", group: "Webhooks" },
  events: { title: "Events", path: "/events", group: "Webhooks" },
  deliveries: { title: "Deliveries", path: "/deliveries", group: "Webhooks" },
  audit: { title: "Audit", path: "/audit", group: "Operate" },
  operators: { title: "Operators", path: "/operators", group: "Operate" },
  system: { title: "System", path: "/system", group: "Operate" },
} as const
export type Section = keyof typeof SECTIONS

/** The sections that show the deployment as a whole, which an operator of one organization does not see. */
export const DEPLOYMENT_SECTIONS: ReadonlyArray<Section> = ["system"]

/** Other paths of theirs: what is named there belongs to no organization yet, or has no id by which it is known whose it is. */
const DEPLOYMENT_PATHS: ReadonlyArray<string> = ["/partners/new", "/senders/link-domain/remove"]

/** Reports whether a route does not exist for an operator of one organization. */
export const isDeploymentWide = ({ section, path }: { readonly section: Section; readonly path: string }): boolean =>
  DEPLOYMENT_SECTIONS.includes(section) || DEPLOYMENT_PATHS.includes(path)

/** The sections of which partners have pages. */
const PARTNER_SECTIONS: ReadonlyArray<Section> = ["partners", "endpoints", "deliveries", "issues"]

/** The sections whose pages need more than the role viewer. */
const SECTION_ROLES: Readonly<Partial<Record<Section, StaffRole>>> = { operators: "admin" }

/** The page on which an operator begins. */
export const homeOf = ({ role, organizationId }: Operator): string =>
  role === "partner" && organizationId !== null ? `/partners/${organizationId}` : "/"

interface NavigationLink {
  readonly section: Section
  readonly title: string
  readonly path: string
  readonly group: string
}

/** The sections that an operator has, with the titles and the first pages that they have for that operator. */
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

/** The sections of the paths that do not begin as their section. */
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

/** The parameters of paths: a name means the same in each path. */
export const PATH_PARAMS = {
  campaign: CampaignId,
  date: CalendarDate,
  delivery: DeliveryId,
  endpoint: EndpointId,
  event: Schema.NonEmptyString.check(Schema.isMaxLength(255)).pipe(
    Schema.annotate({ expected: "the id of an event, ours or as the partner sent it" }),
  ),
  group: FailureGroupId,
  /** A recipient, who stands for a clinician. */
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
