import { OPERATOR_ROLES, type OperatorRole, STAFF_ROLES, type StaffRole } from "@outreach/domain/operators/Operator"
import { npi } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { takesFile } from "../src/http/inputs.ts"
import { isDeploymentWide } from "../src/http/paths.ts"
import type { Route as RouteOf } from "../src/http/Route.ts"
import { formToken } from "../src/http/readForm.ts"
import { routes as consoleRoutes } from "../src/routes.ts"
import { contentsOf } from "./contentsOf.ts"
import { findPages } from "./findPages.ts"
import { seedOrganization } from "./seedOrganization.ts"
import { startConsole, type Visitor } from "./startConsole.ts"

// The routes are those of the console itself, so that a new one is walked as well.

// More sessions are not valid than an address may present in a minute.
const test = startConsole({ UNAUTHENTICATED_LIMIT: "100000" })
type Route = RouteOf<unknown>
const routes: ReadonlyArray<Route> = consoleRoutes

/** Who asks: nobody, an operator of a role, or one of a role who is bound to the other organization. */
type Session = string | undefined

let own: Effect.Success<ReturnType<typeof seedOrganization>>
let other: typeof own
let everywhere: Readonly<Record<StaffRole, string>>
/** Bound to the other organization. */
let bound: Readonly<Record<OperatorRole, string>>
/** A partner of the first organization. */
let partner: Visitor
/** A partner of no organization, which the database refuses. */
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
  partner = await test().as("partner", own.ids.organization)
  unboundPartner = (await test().as("partner", other.ids.organization)).cookie
  await test().run(
    SqlClient.SqlClient.use((sql) =>
      Effect.andThen(
        sql`alter table operators drop constraint operators_check`,
        sql`
          update operators set organization_id = null
          where id = (
            select operator_id from operator_sessions
            where hash = sha256(convert_to(${unboundPartner.slice("session=".length)}, 'UTF8'))
          )`,
      ),
    ),
  )
})

/** The ids of an organization's things by the names of the inputs that take them. */
const exampleOf = (ids: typeof own.ids, name: string): string | undefined =>
  Object.hasOwn(ids, name) ? ids[name as keyof typeof ids] : undefined

/** Parameters of paths that belong to nobody. */
const PLAIN_PARAMS: Readonly<Record<string, string>> = { date: "2026-11-01" }

/** The parameters and the inputs of a route that are ids, or that it cannot do without. */
const namedThings = (route: Route): ReadonlyArray<string> =>
  [...Object.keys(route.params), ...Object.keys(route.inputs)].filter((name) => exampleOf(own.ids, name) !== undefined)

interface Ask {
  readonly session?: Session
  readonly ids?: typeof own.ids
  /** Default the token of the session. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const URLENCODED = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=x"

/** Sends a request to a route. Of a stream only the head is read. */
const ask = async (route: Route, { session, ids = own.ids, token, headers = {}, body }: Ask) => {
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = exampleOf(ids, name) ?? PLAIN_PARAMS[name]
    if (id === undefined) {
      throw new Error(`${route.path} names the ${name}, and seedOrganization of test/seedOrganization.ts gives none.`)
    }
    return id
  })
  const inputs = Object.keys(route.inputs).flatMap((name) => {
    const id = exampleOf(ids, name)
    return id === undefined ? [] : [[name, id]]
  })
  const isAction = route.kind === "action"
  const sent = token === undefined && session !== undefined ? formToken(session.slice("session=".length)) : token
  const fields = new URLSearchParams([...inputs, ...(typeof sent === "string" ? [["token", sent]] : [])] as string[][])
  const upload = new FormData()
  for (const [name, value] of fields) upload.append(name, value)
  upload.append("file", new File([`npi,email\n${npi(1)},upload@acme.test`], "list.csv"))
  const stop = new AbortController()
  const response = await fetch(
    `${test().url}${path}${isAction ? "" : `?${new URLSearchParams(inputs as string[][])}`}`,
    {
      method: isAction ? "POST" : "GET",
      headers: {
        ...(session !== undefined && { cookie: session }),
        ...(isAction && { origin: test().url }),
        ...(isAction && !takesFile(route.inputs) && { "content-type": URLENCODED }),
        ...headers,
      },
      ...(isAction && { body: body ?? (takesFile(route.inputs) ? upload : fields.toString()) }),
      redirect: "manual",
      signal: stop.signal,
    },
  )
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream")
  // An answer to a form whose session has ended holds what was sent, and nothing else of anybody.
  const text = isStream
    ? ""
    : (await response.text()).replace(
        /<form class="action" method="post" action="[^"]*">(<input type="hidden"[^>]*>)*/,
        "",
      )
  if (isStream) stop.abort()
  return { status: response.status, to: response.headers.get("location"), headers: response.headers, text }
}

type Answer = Awaited<ReturnType<typeof ask>>

const personalIn = (text: string): ReadonlyArray<string> =>
  [...own.personal, ...own.secrets, ...other.personal].filter((value) => text.includes(value))

/** What shows that an answer is about the first organization, which those who are bound to the other must never see. */
const ownIn = (text: string): ReadonlyArray<string> => [
  ...ownIdsIn(text),
  ...["acme.test", ...own.recipients.map(({ token }) => token)].filter((value) => text.includes(value)),
]

const ownIdsIn = (text: string): ReadonlyArray<string> =>
  [...Object.values(own.ids), ...own.recipients.map(({ id }) => id)].filter((id) => text.includes(id))

const contents = (options?: { readonly withAuditLog: boolean }) => test().run(contentsOf(options))

/** Expects answers that refuse, show nothing of anybody, and leave everything as it is. */
const expectRefused = async (
  route: Route,
  asks: ReadonlyArray<readonly [who: string, ask: Ask, expected: Partial<Answer>]>,
) => {
  const before = await contents()
  for (const [who, request, expected] of asks) {
    const answer = await ask(route, request)
    expect({ who, status: answer.status, to: answer.to }).toEqual({ who, to: null, ...expected })
    expect({ who, personal: personalIn(answer.text), own: ownIn(answer.text) }).toEqual({ who, personal: [], own: [] })
    expectSecured(answer)
  }
  expect(await contents()).toEqual(before)
}

const expectSecured = ({ headers, text }: Answer) => {
  const policy = headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  // An e-mail that is shown in a frame has styles of its own, and nothing else of its own.
  const isMail = policy.endsWith("; sandbox")
  expect(isMail ? policy.replace("style-src 'unsafe-inline'", "") : policy).not.toContain("unsafe")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("referrer-policy")).toMatch(/^(same-origin|no-referrer)$/)
  expect(headers.get("cache-control")).toContain("no-store")
  // The e-mail is shown in a frame of the console's own, everything else in none.
  expect(policy).toContain(isMail ? "frame-ancestors 'self'" : "frame-ancestors 'none'")
  expect(headers.get("x-frame-options")).toMatch(/^(DENY|SAMEORIGIN)$/)
  // Text of a page is escaped, so that what looks like a tag is one.
  if (isMail) expect(text).not.toMatch(/<script|<[^>]+ on\w+=|javascript:/i)
  else expect(text).not.toMatch(/<style|<script(?![^>]* src="\/assets\/)|<[^>]+ (?:style|on\w+)=|javascript:/i)
}

const nameOf = (route: Route) => `${route.kind === "action" ? "POST" : "GET"} ${route.path}`
const rolesBelow = ({ role }: Route) => STAFF_ROLES.slice(0, STAFF_ROLES.indexOf(role))
const rolesFrom = ({ role }: Route) => STAFF_ROLES.slice(STAFF_ROLES.indexOf(role))
const isForPartners = (route: Route) => FOR_PARTNERS.includes(nameOf(route))
/** The roles that may use a route, for somebody who is bound to an organization. */
const boundRolesFrom = (route: Route): ReadonlyArray<OperatorRole> =>
  isForPartners(route) ? [...rolesFrom(route), "partner"] : rolesFrom(route)

/** All that partners may use. */
const FOR_PARTNERS: ReadonlyArray<string> = [
  "GET /partners/:organization",
  "POST /partners/:organization/show",
  "POST /partners/:organization/keys",
  "POST /keys/:key/rotate",
  "GET /keys/:key/revoke",
  "POST /keys/:key/revoke",
  "POST /endpoints/:endpoint/secrets/rotate",
  "POST /partners/:organization/secrets/rotate",
  "GET /endpoints",
  "GET /endpoints/:endpoint",
  "POST /endpoints/:endpoint/test",
  "POST /endpoints/:endpoint/show",
  "GET /endpoints/:endpoint/replay",
  "POST /endpoints/:endpoint/replay",
  "GET /deliveries",
  "GET /deliveries/:delivery",
  "POST /deliveries/:delivery/show",
  "POST /deliveries/:delivery/retry",
  "POST /deliveries/replay",
  "GET /issues",
  "GET /issues/:group",
  "GET /dead-letters/replay",
  "POST /dead-letters/replay",
  "GET /replays/:replay/cancel",
  "POST /replays/:replay/cancel",
]

it("walks every route, each of its own", () => {
  const names = routes.map(nameOf)
  expect(names.length).toBeGreaterThan(0)
  expect(new Set(names).size).toBe(names.length)
})

it("is open to partners where a route says so, and nowhere else", () => {
  const declared = routes.filter(({ forPartners }) => forPartners).map(nameOf)
  expect(declared.sort()).toEqual([...FOR_PARTNERS].sort())
})

it("leads a partner from the first page to each of its own, and to no other", async () => {
  const first = `/partners/${own.ids.organization}`
  const home = await partner.get("/")
  expect({ status: home.status, to: home.headers.get("location") }).toEqual({ status: 303, to: first })
  const found = await findPages(partner, first)
  const pages = FOR_PARTNERS.flatMap((name) => (name.startsWith("GET ") ? [name.slice("GET ".length)] : []))
  expect([...found.keys()].sort()).toEqual(pages.sort())
  for (const address of found.values()) {
    const { document, text } = await partner.get(address)
    const sections = [...document.querySelectorAll("nav.sections a")]
    expect(sections.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([
      ["Overview", first],
      ["Endpoints", "/endpoints"],
      ["Deliveries", "/deliveries"],
      ["Issues", "/issues"],
    ])
    const actions = [...document.querySelectorAll("form[method=post]")].map((form) => form.getAttribute("action")!)
    const unknown = actions.filter((action) => !FOR_PARTNERS.some((name) => isOf(name, `POST ${action}`)))
    expect({ address, unknown }).toEqual({ address, unknown: ["/sign-out"] })
    expect(text).not.toMatch(/\bops [a-z]/)
  }
})

const isOf = (name: string, request: string): boolean =>
  new RegExp(`^${name.replaceAll(/:\w+/g, "[^/]+")}$`).test(request)

it("finds nobody of an organization for an operator of another, by whatever is searched", async () => {
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
  for (const term of terms) expect(ownIdsIn(await search(bound.admin, term))).toEqual([])
  expect(ownIdsIn(await search(everywhere.viewer, tokens[0]!))).not.toEqual([])
})

describe.each(routes.map((route) => [nameOf(route), route] as const))("%s", (_, route) => {
  it("refuses a request that is signed out, has a session of nobody, or lacks the role", async () => {
    const signedOut = route.kind === "page" ? { status: 303, to: "/sign-in" } : { status: 401 }
    await expectRefused(route, [
      ["nobody", {}, signedOut],
      ["a session that is unknown", { session: `session=${"a".repeat(43)}` }, signedOut],
      ...rolesBelow(route).flatMap((role) => [
        [role, { session: everywhere[role] }, { status: 403 }] as const,
        [
          `bound ${role}`,
          { session: bound[role], ids: other.ids },
          { status: isDeploymentWide(route) ? 404 : 403 },
        ] as const,
      ]),
      ["a partner of no organization", { session: unboundPartner }, { status: 404 }],
    ])
  })

  if (!isForPartners(route)) {
    it("does not exist for a partner, of whatever organization", async () => {
      const hidden = route.path === "/" ? { status: 303, to: `/partners/${other.ids.organization}` } : { status: 404 }
      const session = bound.partner
      await expectRefused(route, [
        ["a partner, of its own things", { session, ids: other.ids }, hidden],
        ["a partner, of another's things", { session }, hidden],
      ])
    })
  }

  it("shows and does nothing of an organization to an operator of another", async () => {
    const isAnswered = namedThings(route).length === 0 && route.kind !== "action" && !isDeploymentWide(route)
    await expectRefused(
      route,
      isAnswered
        ? []
        : boundRolesFrom(route).map((role) => [`bound ${role}`, { session: bound[role] }, { status: 404 }]),
    )
    if (route.kind === "action" || isDeploymentWide(route)) return
    for (const role of boundRolesFrom(route)) {
      const answer = await ask(route, { session: bound[role], ids: other.ids })
      expect({ role, status: answer.status, own: ownIn(answer.text) }).toEqual({ role, status: 200, own: [] })
    }
  })

  if (route.kind === "action") {
    it("needs the token of the session's own forms, sent by a page of the console", async () => {
      const session = everywhere.admin
      const refused = { status: 403 }
      await expectRefused(route, [
        ["no token", { session, token: null }, refused],
        ["a forged token", { session, token: "a".repeat(43) }, refused],
        ["the token of another session", { session, token: formToken(everywhere.viewer.slice(8)) }, refused],
        ["another site", { session, headers: { origin: "https://evil.example" } }, refused],
        ["a page without an origin", { session, headers: { origin: "null" } }, refused],
        ["another site, by what the browser says", { session, headers: { "sec-fetch-site": "cross-site" } }, refused],
        ["a subdomain, by what the browser says", { session, headers: { "sec-fetch-site": "same-site" } }, refused],
        ...(isForPartners(route)
          ? [["a partner's", { session: bound.partner, ids: other.ids, token: null }, refused] as const]
          : []),
        ["no form", { session, headers: { "content-type": "text/plain" } }, { status: 415 }],
        [
          "a form of the other kind: only what declares a file takes one",
          { session, headers: { "content-type": takesFile(route.inputs) ? URLENCODED : MULTIPART } },
          { status: 415 },
        ],
        ["no form but JSON", { session, headers: { "content-type": "application/json" }, body: "{}" }, { status: 415 }],
      ])
    })
  } else {
    it("shows masked data, without scripts and styles of its own, and changes nothing", async () => {
      // What shows personal data is recorded.
      const withAuditLog = route.kind === "page" || route.command === undefined
      const before = await contents({ withAuditLog })
      const sessions = Object.entries({ ...everywhere, partner: partner.cookie })
      for (const [role, session] of sessions.filter(([role]) => boundRolesFrom(route).some((each) => each === role))) {
        const answer = await ask(route, { session })
        expect({ role, status: answer.status, text: answer.status === 200 ? "" : answer.text }).toEqual({
          role,
          status: 200,
          text: "",
        })
        expect(personalIn(answer.text)).toEqual([])
        expectSecured(answer)
      }
      expect(await contents({ withAuditLog })).toEqual(before)
    })
  }
})
