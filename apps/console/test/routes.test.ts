import { createEndpoint, EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import {
  isPartner,
  mayActAs,
  OPERATOR_ROLES,
  type OperatorRole,
  PARTNER_ROLES,
  STAFF_ROLES,
  type StaffRole,
} from "@outreach/domain/operators/Operator"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { npi } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import type { Route as RouteOf } from "../src/http/Route.ts"
import { formToken } from "../src/http/readForm.ts"
import { routes as consoleRoutes } from "../src/routes.ts"
import { takesFile } from "../src/view/inputs.ts"
import { isDeploymentWide } from "../src/view/paths.ts"
import { contentsOf } from "./contentsOf.ts"
import { findPages } from "./findPages.ts"
import { addressOf, seedOrganization } from "./seedOrganization.ts"
import { startConsole, type Visitor } from "./startConsole.ts"

// The table of routes is the console's, so that new routes are tested as well.

// The requests with invalid sessions exceed the default limit for an address.
const test = startConsole({ UNAUTHENTICATED_LIMIT: "100000" })
type Route = RouteOf<unknown>
const routes: ReadonlyArray<Route> = consoleRoutes
const actions = routes.filter(({ kind }) => kind === "action")
const reads = routes.filter(({ kind }) => kind !== "action")

let own: Effect.Success<ReturnType<typeof seedOrganization>>
let other: typeof own
/** The sessions of operators of all organizations. */
let everywhere: Readonly<Record<StaffRole, string>>
/** The sessions of operators of the other organization. */
let bound: Readonly<Record<OperatorRole, string>>
/** A partner's admin of the first organization, and the session of a partner of it. */
let partnerAdmin: Visitor
let partnerSession: string
/** The session of a partner of no organization, which the database doesn't allow. */
let unboundPartner: string

beforeAll(async () => {
  own = await test().run(seedOrganization("acme.test"))
  other = await test().run(seedOrganization("other.test"))
  const sessions = async <Role extends OperatorRole>(
    roles: ReadonlyArray<Role>,
    organizationId?: typeof own.ids.organization,
  ) =>
    Object.fromEntries(
      await Promise.all(roles.map(async (role) => [role, (await test().as(role, organizationId)).cookie])),
    ) as Record<Role, string>
  everywhere = await sessions(STAFF_ROLES)
  bound = await sessions(OPERATOR_ROLES, other.ids.organization)
  partnerAdmin = await test().as("partner-admin", own.ids.organization)
  partnerSession = (await test().as("partner", own.ids.organization)).cookie
  unboundPartner = (await test().as("partner", other.ids.organization)).cookie
  await test().query((sql) =>
    Effect.andThen(
      sql`alter table operators drop constraint operators_check`,
      sql`
          update operators set organization_id = null
          where id = (
            select operator_id from operator_sessions
            where hash = sha256(convert_to(${unboundPartner.slice("session=".length)}, 'UTF8'))
          )`,
    ),
  )
})

/** Reports whether a route's parameters or inputs name something of an organization. */
const namesThings = (route: Route): boolean =>
  [...Object.keys(route.params), ...Object.keys(route.inputs)].some((name) => Object.hasOwn(own.ids, name))

interface Ask {
  readonly session?: string
  /** The things that the request names. Default those of the first organization. */
  readonly ids?: typeof own.ids
  /** Default the token of the session. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const URLENCODED = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=x"

const ask = async (route: Route, { session, ids = own.ids, token, headers = {}, body }: Ask) => {
  const [path, query] = addressOf(route, { ids, published: ids.event }).split("?")
  const isAction = route.kind === "action"
  const sent = token === undefined && session !== undefined ? formToken(session.slice("session=".length)) : token
  const fields = new URLSearchParams(query)
  if (typeof sent === "string") fields.append("token", sent)
  const upload = new FormData()
  for (const [name, value] of fields) upload.append(name, value)
  upload.append("file", new File([`npi,email\n${npi(1)},upload@acme.test`], "list.csv"))
  const response = await fetch(`${test().url}${path}${isAction ? "" : `?${query}`}`, {
    method: isAction ? "POST" : "GET",
    headers: {
      ...(session !== undefined && { cookie: session }),
      ...(isAction && { origin: test().url }),
      ...(isAction && !takesFile(route.inputs) && { "content-type": URLENCODED }),
      ...headers,
    },
    ...(isAction && { body: body ?? (takesFile(route.inputs) ? upload : fields.toString()) }),
    redirect: "manual",
  })
  const whole = await response.text()
  // The response to a form without a valid session repeats the sent values, and contains no other data.
  const text = whole.replace(/<form class="action" method="post" action="[^"]*">(<input type="hidden"[^>]*>)*/, "")
  return { status: response.status, to: response.headers.get("location"), headers: response.headers, text, whole }
}

type Answer = Awaited<ReturnType<typeof ask>>

const ownIdsIn = (text: string): ReadonlyArray<string> =>
  [...Object.values(own.ids), ...own.recipients.map(({ id }) => id)].filter((id) => text.includes(id))

/** Returns the values of the first organization in a text. Operators of the other organization must never see them. */
const ownIn = (text: string): ReadonlyArray<string> => [
  ...ownIdsIn(text),
  ...["acme.test", ...own.recipients.map(({ token }) => token)].filter((value) => text.includes(value)),
]

const personalIn = (text: string): ReadonlyArray<string> =>
  [...own.personal, ...own.secrets, ...other.personal].filter((value) => text.includes(value))

/** Returns the security rules for browsers that a response violates. */
const unsecured = ({ headers, text }: Answer): ReadonlyArray<string> => {
  const policy = headers.get("content-security-policy") ?? ""
  // An e-mail that is shown in a frame has styles, and no scripts.
  const isMail = policy.endsWith("; sandbox")
  const rules: Readonly<Record<string, boolean>> = {
    "allows only what it names": policy.includes("default-src 'none'"),
    "allows nothing unsafe": !(isMail ? policy.replace("style-src 'unsafe-inline'", "") : policy).includes("unsafe"),
    "keeps its type": headers.get("x-content-type-options") === "nosniff",
    "sends no referrer to others": /^(same-origin|no-referrer)$/.test(headers.get("referrer-policy") ?? ""),
    "is not cached": headers.get("cache-control")?.includes("no-store") === true,
    "is framed only by the console": policy.includes(isMail ? "frame-ancestors 'self'" : "frame-ancestors 'none'"),
    "is not framed by old browsers": /^(DENY|SAMEORIGIN)$/.test(headers.get("x-frame-options") ?? ""),
    // Text is escaped, so that this finds only tags.
    "has no script or style of its own": !(
      isMail
        ? /<script|<[^>]+ on\w+=|javascript:/i
        : /<style|<script(?![^>]* src="\/assets\/)|<[^>]+ (?:style|on\w+)=|javascript:/i
    ).test(text),
  }
  return Object.keys(rules).filter((rule) => !rules[rule])
}

/** A request to a route, and the response that it must get. */
interface Case {
  readonly route: Route
  readonly who: string
  readonly request: Ask
  readonly expected: { readonly status: number; readonly to?: string }
  /** Describes what is wrong with the content of the response. */
  readonly faultsOf: (answer: Answer) => ReadonlyArray<string>
}

/** Sends requests and returns their faults. None of them may change the database. */
const faultsOf = async (cases: ReadonlyArray<Case>, options?: Parameters<typeof contentsOf>[0]) => {
  const contents = () => test().run(contentsOf(options))
  const check = async ({ route, who, request, expected, faultsOf }: Case) => {
    const answer = await ask(route, request)
    const { status, to = null } = expected
    const found = [
      ...(answer.status === status ? [] : [`has the status ${answer.status} instead of ${status}`]),
      ...(answer.to === to ? [] : [`redirects to ${answer.to} instead of ${to}`]),
      ...unsecured(answer).map((rule) => `violates the rule: ${rule}`),
      ...faultsOf(answer),
    ]
    return found.map((fault) => `${nameOf(route)}, ${who}: ${fault}`)
  }
  const before = await contents()
  const faults: Array<string> = []
  for (const each of cases) faults.push(...(await check(each)))
  const after = await contents()
  const changed = Object.keys(after).filter((table) => after[table] !== before[table])
  if (changed.length === 0) return faults
  faults.push(`a request changed ${changed}`)
  // Something changed: send the requests again one by one to find out which one does it.
  let last = JSON.stringify(after)
  for (const each of cases) {
    await check(each)
    const now = JSON.stringify(await contents())
    if (now !== last) faults.push(`${nameOf(each.route)}, ${each.who}: changes the database`)
    last = now
  }
  return faults
}

const disclosed = (values: ReadonlyArray<string>) => values.map((value) => `discloses ${value}`)

/** A request that must be rejected with a response without personal or foreign data. */
const rejected = (route: Route, who: string, request: Ask, expected: Case["expected"]): Case => ({
  ...{ route, who, request, expected },
  faultsOf: ({ text }) => disclosed([...personalIn(text), ...ownIn(text)]),
})

const nameOf = (route: Route) => `${route.kind === "action" ? "POST" : "GET"} ${route.path}`
const rolesBelow = ({ role }: Route) => STAFF_ROLES.slice(0, STAFF_ROLES.indexOf(role))
const mayPartnerUse = (role: OperatorRole, route: Route) =>
  FOR_PARTNERS.includes(nameOf(route)) || (role === "partner-admin" && FOR_PARTNER_ADMINS.includes(nameOf(route)))
/** The roles that may use a route: the lowest, the highest, and those of partners. */
const rolesOf = (route: Route): ReadonlyArray<OperatorRole> => [
  ...new Set([route.role, "admin" as const]),
  ...PARTNER_ROLES.filter((role) => mayPartnerUse(role, route)),
]

/** The routes for all of a partner's staff. */
const FOR_PARTNERS: ReadonlyArray<string> = [
  "GET /partners/:organization",
  "POST /partners/:organization/show",
  "GET /endpoints",
  "GET /endpoints/csv",
  "GET /endpoints/:endpoint",
  "GET /endpoints/:endpoint/deliveries",
  "GET /endpoints/:endpoint/secrets",
  "GET /endpoints/:endpoint/settings",
  "POST /endpoints/:endpoint/test",
  "GET /endpoints/:endpoint/retry",
  "POST /endpoints/:endpoint/retry",
  "POST /endpoints/:endpoint/show",
  "GET /endpoints/:endpoint/replay",
  "POST /endpoints/:endpoint/replay",
  "GET /events",
  "GET /events/csv",
  "GET /events/:event",
  "POST /events/:event/show",
  "GET /inbox",
  "GET /inbox/csv",
  "GET /inbox/:event",
  "POST /inbox/:event/show",
  "GET /find",
  "POST /find",
  "GET /deliveries",
  "GET /deliveries/csv",
  "GET /deliveries/:delivery",
  "POST /deliveries/:delivery/show",
  "POST /deliveries/:delivery/retry",
  "POST /deliveries/replay",
  "GET /issues",
  "GET /issues/csv",
  "GET /issues/:group",
  "GET /issues/:group/retry",
  "POST /issues/:group/retry",
  "GET /dead-letters",
  "GET /dead-letters/csv",
  "GET /dead-letters/replay",
  "POST /dead-letters/replay",
  "GET /replays",
  "GET /replays/csv",
  "GET /replays/:replay/cancel",
  "POST /replays/:replay/cancel",
]

/** The routes for a partner's admins, with which they manage their organization. */
const FOR_PARTNER_ADMINS: ReadonlyArray<string> = [
  "POST /partners/:organization/contacts",
  "POST /partners/:organization/keys",
  "POST /keys/:key/rotate",
  "GET /keys/:key/revoke",
  "POST /keys/:key/revoke",
  "POST /endpoints/:endpoint/secrets/rotate",
  "POST /partners/:organization/secrets/rotate",
  "POST /endpoints/new",
  "POST /endpoints/:endpoint/update",
  "GET /endpoints/:endpoint/disable",
  "POST /endpoints/:endpoint/disable",
  "GET /endpoints/:endpoint/enable",
  "POST /endpoints/:endpoint/enable",
  "GET /endpoints/:endpoint/remove",
  "POST /endpoints/:endpoint/remove",
]

it("has each method and path once", () => {
  const names = routes.map(nameOf)
  expect(names.length).toBeGreaterThan(0)
  expect(new Set(names).size).toBe(names.length)
})

it("opens to partners only the routes that declare it", () => {
  const declared = routes.filter(({ forPartners }) => forPartners)
  const [forAdmins, forAll] = [
    declared.filter(({ role }) => role === "admin"),
    declared.filter(({ role }) => role !== "admin"),
  ]
  expect(forAll.map(nameOf).sort()).toEqual([...FOR_PARTNERS].sort())
  expect(forAdmins.map(nameOf).sort()).toEqual([...FOR_PARTNER_ADMINS].sort())
})

it("links a partner's admin from the first page to each page for partners, and to no other, and addresses the partner as you", async () => {
  const first = `/partners/${own.ids.organization}`
  // Only a disabled endpoint can be enabled.
  await test().run(function* () {
    const disabled = { organizationId: own.ids.organization, url: "https://disabled.acme.test/" }
    yield* (yield* EndpointRepository).disable((yield* createEndpoint(disabled)).endpoint.id)
  })
  const home = await partnerAdmin.get("/")
  expect({ status: home.status, to: home.headers.get("location") }).toEqual({ status: 303, to: first })
  const pages = routes.flatMap(({ kind, forPartners, path }) => (kind === "page" && forPartners ? [path] : []))
  const found = await findPages(partnerAdmin, first, pages.length)
  expect([...found.keys()].sort()).toEqual(pages.sort())
  for (const address of found.values()) {
    const { document, text, words } = await partnerAdmin.get(address)
    const sections = [...document.querySelectorAll("nav.sections a")]
    expect(sections.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([
      ["Overview", first],
      ["Endpoints", "/endpoints"],
      ["Deliveries", "/deliveries"],
      ["Events sent to you", "/events"],
      ["Events you sent", "/inbox"],
      ["Issues", "/issues"],
      ["Find", "/find"],
    ])
    expect(text).not.toMatch(/\bops [a-z]/)
    expect({ address, words }).toEqual({ address, words: expect.not.stringMatching(/the partner|command line/i) })
  }
})

it("doesn't find an organization's data for an operator of another, with any search term", async () => {
  const search = async (session: string, term: string) => {
    const response = await fetch(`${test().url}/find`, {
      method: "POST",
      headers: { cookie: session, origin: test().url },
      body: new URLSearchParams({ search: term, token: formToken(session.slice("session=".length)) }),
      redirect: "manual",
    })
    return `${response.headers.get("location")} ${await response.text()}`
  }
  const tokens = own.recipients.map(({ token }) => token)
  const terms = [...tokens, ...own.personal]
  for (const session of [bound.admin, bound["partner-admin"]]) {
    for (const term of [...terms, own.ids.delivery, own.ids.event, own.published]) {
      expect(ownIdsIn((await search(session, term)).replaceAll(term, ""))).toEqual([])
    }
  }
  expect(ownIdsIn(await search(everywhere.viewer, tokens[0]!))).not.toEqual([])
})

it("rejects a request without a session, with an unknown one, or without the role", async () => {
  const cases = routes.flatMap((route) => {
    const signedOut = route.kind === "page" ? { status: 303, to: "/sign-in" } : { status: 401 }
    const hidden = { status: isDeploymentWide(route) ? 404 : 403 }
    return [
      rejected(route, "signed out", {}, signedOut),
      rejected(route, "an unknown session", { session: `session=${"a".repeat(43)}` }, signedOut),
      ...rolesBelow(route).flatMap((role) => [
        rejected(route, role, { session: everywhere[role] }, { status: 403 }),
        rejected(route, `bound ${role}`, { session: bound[role], ids: other.ids }, hidden),
      ]),
      rejected(route, "a partner of no organization", { session: unboundPartner }, { status: 404 }),
    ]
  })
  expect(await faultsOf(cases)).toEqual([])
})

/** The requests to the routes that a partner's role may not use, about its own things and those of another organization. */
const hiddenFrom = (role: (typeof PARTNER_ROLES)[number], session: string) =>
  routes
    .filter((route) => !mayPartnerUse(role, route))
    .flatMap((route) => {
      const hidden = route.path === "/" ? { status: 303, to: `/partners/${other.ids.organization}` } : { status: 404 }
      return [
        rejected(route, `a ${role}, of its own things`, { session, ids: other.ids }, hidden),
        rejected(route, `a ${role}, of another's things`, { session }, hidden),
      ]
    })

it("hides the other routes from partners, whichever organization they name", async () => {
  expect(await faultsOf(PARTNER_ROLES.flatMap((role) => hiddenFrom(role, bound[role])))).toEqual([])
})

it("hides from a partner's admin what a partner may not use, while self-service is off", async () => {
  const setSelfService = (selfService: boolean) =>
    test().run(OrganizationRepository.use(({ setLimits }) => setLimits(other.ids.organization, { selfService })))
  await setSelfService(false)
  expect(await faultsOf(hiddenFrom("partner", bound["partner-admin"]))).toEqual([])
  await setSelfService(true)
})

it("returns 404 to an operator for another organization's pages and actions", async () => {
  const cases = routes
    .filter((route) => namesThings(route) || route.kind === "action" || isDeploymentWide(route))
    .flatMap((route) =>
      rolesOf(route).map((role) => rejected(route, `bound ${role}`, { session: bound[role] }, { status: 404 })),
    )
  expect(await faultsOf(cases)).toEqual([])
})

it("requires the token of the session, sent by a page of the console", async () => {
  const cases = actions.flatMap((route) => {
    const session = everywhere.admin
    const reject = (who: string, request: Ask, status = 403) =>
      rejected(route, who, { session, ...request }, { status })
    return [
      reject("no token", { token: null }),
      reject("the token of another session", { token: formToken(everywhere.viewer.slice("session=".length)) }),
      reject("another site", { headers: { origin: "https://evil.example" } }),
      reject("no form", { headers: { "content-type": "text/plain" } }, 415),
      ...PARTNER_ROLES.filter((role) => mayPartnerUse(role, route)).map((role) =>
        reject(role, { session: bound[role], ids: other.ids, token: null }),
      ),
    ]
  })
  // The same function reads the forms of all actions, once with a file and once without.
  for (const route of [actions.find(({ inputs }) => takesFile(inputs))!, actions[0]!]) {
    const otherType = { "content-type": takesFile(route.inputs) ? URLENCODED : MULTIPART }
    const requests: ReadonlyArray<readonly [who: string, request: Ask, status: number]> = [
      ["a forged token", { token: "a".repeat(43) }, 403],
      ["a page without an origin", { headers: { origin: "null" } }, 403],
      ["another site, according to the browser", { headers: { "sec-fetch-site": "cross-site" } }, 403],
      ["a subdomain, according to the browser", { headers: { "sec-fetch-site": "same-site" } }, 403],
      ["a form of the other type", { headers: otherType }, 415],
      ["JSON", { headers: { "content-type": "application/json" }, body: "{}" }, 415],
    ]
    for (const [who, request, status] of requests) {
      cases.push(rejected(route, who, { session: everywhere.admin, ...request }, { status }))
    }
  }
  expect(await faultsOf(cases)).toEqual([])
})

const patternOf = ({ path }: Route) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)

/** Returns the addresses of the forms and links on a page that the role may not use. */
const forbiddenOn = ({ whole }: Answer, role: OperatorRole): ReadonlyArray<string> => {
  const mayUse = (route: Route) => (isPartner({ role }) ? mayPartnerUse(role, route) : mayActAs(role, route.role))
  const isOffered = (kinds: ReadonlyArray<Route>, address: string) => {
    const named = kinds.filter((route) => patternOf(route).test(address))
    return named.length === 0 || named.some(mayUse)
  }
  const addressesIn = (pattern: RegExp) => [...new Set(Array.from(whole.matchAll(pattern), ([, address]) => address!))]
  return [
    ...addressesIn(/<form[^>]* method="post" action="([^"]*)"/g).filter((address) => !isOffered(actions, address)),
    ...addressesIn(/<a [^>]*href="(\/[^"#?]*)/g).filter((address) => !isOffered(reads, address)),
  ]
}

it("shows masked pages with only the permitted links and forms, and changes no data", async () => {
  const shown = (route: Route, role: OperatorRole, session: string, isOther = false): Case => ({
    ...{ route, who: isOther ? `bound ${role}` : role, expected: { status: 200 } },
    request: isOther ? { session, ids: other.ids } : { session },
    faultsOf: (answer) => [
      ...disclosed(isOther ? ownIn(answer.text) : personalIn(answer.text)),
      ...forbiddenOn(answer, role).map((address) => `offers ${address}`),
      ...(answer.status === 200 ? [] : [answer.text.slice(0, 1000)]),
    ],
  })
  const sessions: Readonly<Record<OperatorRole, string>> = {
    ...everywhere,
    partner: partnerSession,
    "partner-admin": partnerAdmin.cookie,
  }
  const cases = (all: ReadonlyArray<Route>) => [
    ...all.flatMap((route) => rolesOf(route).map((role) => shown(route, role, sessions[role]))),
    ...all
      .filter((route) => !isDeploymentWide(route))
      .flatMap((route) => rolesOf(route).map((role) => shown(route, role, bound[role], true))),
  ]
  // A resource that shows personal data is recorded in the audit log.
  const isRecorded = ({ kind, command }: Route) => kind === "resource" && command !== undefined
  expect(await faultsOf(cases(reads.filter((route) => !isRecorded(route))))).toEqual([])
  expect(await faultsOf(cases(reads.filter(isRecorded)), { withAuditLog: false })).toEqual([])
})
