import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import {
  type HourlyRequests as HourlyCount,
  PartnerActivityReader,
  type PollerStatus,
  totalOf,
} from "@outreach/backoffice/organizations/PartnerActivityReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { describeCause } from "@outreach/domain/deliveries/describeCause"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { HOUR_MS } from "../../components/charts/Histogram.tsx"
import { formatCapped, formatCount, formatDuration, nameIn } from "../../components/format.ts"
import { AskFirst } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, IdLink, StatusBadge, Time, useMay } from "../../components/values.tsx"
import { defineMaskedPage, type Masking } from "../../http/Route.ts"
import { EndpointLink } from "../deliveries/Deliveries.tsx"
import { EndpointBadge, endpointState } from "../endpoints/endpointsPage.tsx"
import { causeColumns } from "../issues/issuePage.tsx"
import { newProgramPage } from "../programs/newProgramPage.tsx"
import { newSenderPage } from "../senders/newSenderPage.tsx"
import { Contacts } from "./Contacts.tsx"
import { HourlyRequests, SHOWN_HOURS } from "./HourlyRequests.tsx"
import { Keys } from "./Keys.tsx"
import { readSecrets } from "./Secrets.tsx"

const COUNTED_HOURS = 24
const MAX_ISSUES = 5

/** A poller is late if a row has waited for it longer than this. */
const LATE_SECONDS = 900

export const partnerPages = defineMaskedPage("/partners/:organization", "organizations show", {
  forPartners: true,
  run: ({ organization }, { now, ...masking }) =>
    Effect.map(readPartner(organization, now), (partner) => contentOf(partner, masking)),
})

const readPartner = Effect.fnUntraced(function* (id: OrganizationId, now: number) {
  const activity = yield* PartnerActivityReader
  const organization = yield* (yield* OrganizationReader).find(id)
  const rows = yield* activity.hourlyRequests(id, SHOWN_HOURS)
  return {
    organization,
    endpoints: yield* (yield* EndpointRepository).list(id),
    programs: yield* (yield* ProgramRepository).list(id),
    senders: yield* (yield* SenderRepository).list(id),
    issues: yield* (yield* FailureGroupReader).largest({ organizationId: id }, MAX_ISSUES),
    keys: yield* (yield* ApiKeyRepository).list(id),
    rows,
    recent: rows.filter(({ hour }) => toUnixMillis(hour) > now - COUNTED_HOURS * HOUR_MS),
    windowUse: yield* activity.windowUse(id),
    pollers: yield* activity.pollers(id),
    secrets: yield* readSecrets(organization, now),
    documents: `${(yield* ConsoleConfig).publicBaseUrl}/docs`,
    now,
  }
})

export type Partner = Effect.Success<ReturnType<typeof readPartner>>

const contentOf = (partner: Partner, masking: Masking) => {
  const { organization, endpoints, issues, rows, secrets, documents } = partner
  const { id, name, createdAt } = organization
  const sentBy = (prefix: string) => rows.filter(({ callerId }) => callerId.startsWith(prefix))
  return (
    <Page
      title={<ForeignText>{name}</ForeignText>}
      state={
        <small>
          Partner since <Time at={createdAt} isShort />
        </small>
      }
      id={id}
      commands={[
        ops("organizations show", id),
        ops("keys list", { organization: id }),
        ops("secrets list", { organization: id }),
        ops("endpoints create", { organization: id, url: "https://…" }),
      ]}
    >
      <Problems {...partner} />
      <Outreach {...partner} />
      <Table
        caption="Endpoints"
        rows={endpoints}
        empty="No endpoint, so the partner gets no webhooks. Add one on the command line."
        columns={{
          Address: ({ id, url }) => <IdLink id={id}>{url}</IdLink>,
          State: (endpoint) => <EndpointBadge endpoint={endpoint} />,
          "Not read yet": { count: ({ lagEvents }) => lagEvents, cap: LIST_COUNT_CAP },
        }}
      />
      {issues.length > 0 && (
        <>
          <Table
            title="Why calls fail"
            rows={issues}
            columns={{
              ...causeColumns,
              Endpoint: ({ endpointId }) => (
                <EndpointLink id={endpointId} endpoints={new Map(endpoints.map(({ id, url }) => [id, url]))} />
              ),
            }}
          />
          <LinkLine to={`/issues?organization=${id}`}>All issues</LinkLine>
        </>
      )}
      <Keys {...partner} />
      <Section title="Documents">
        <p>
          <a href={documents}>How to begin, webhooks, errors and the reference</a>. A new key opens them with itself
          filled in.
        </p>
      </Section>
      <Section title="Requests" id="requests">
        <HourlyRequests
          kind="Requests with a key"
          rows={sentBy("key_")}
          empty="The partner has sent no request with a key yet. The documents say how to begin."
        />
        <Errors {...partner} />
      </Section>
      <Pollers {...partner} />
      <Section title="What the partner sends" id="inbound">
        <HourlyRequests
          kind="Webhooks from the partner"
          rows={sentBy("whe_")}
          empty="The partner has sent no webhooks yet. It sends them to the address of one of its endpoints, signed."
        />
      </Section>
      {secrets}
      <Contacts {...partner} {...masking} />
    </Page>
  )
}

/** What is sent for the partner. It stands on pages of staff alone. */
const Outreach = ({ organization: { id: organization }, programs, senders }: Partner) =>
  useMay({ role: "viewer" }) ? (
    <Section title="Outreach" id="outreach">
      <Facts
        facts={{
          Programs: <Names things={programs} none="none yet" />,
          Senders: (
            <Names
              things={senders.map(({ id, ...sender }) => ({ id, name: formatFrom(sender) }))}
              none="none: its e-mails are sent in the deployment’s name"
            />
          ),
          Campaigns: <a href={`/campaigns?organization=${organization}`}>All its campaigns</a>,
        }}
      />
      <p>
        <AskFirst page={newProgramPage} query={{ organization }} label="Add a program" />{" "}
        <AskFirst page={newSenderPage} query={{ organization }} label="Add a sender" />
      </p>
    </Section>
  ) : null

const Names = (props: {
  readonly things: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly none: string
}) => (
  <Items
    of={props.things.length === 0 ? [props.none] : props.things.map(({ id, name }) => <IdLink id={id}>{name}</IdLink>)}
  />
)

const Problems = ({ organization, endpoints, issues, keys, pollers, recent }: Partner) => {
  const countOf = (error: string) => totalOf(recent.filter(({ code }) => code === error)).requests
  const badSignatures = countOf("INVALID_SIGNATURE")
  const limited = countOf("RATE_LIMITED")
  const problems: ReadonlyArray<readonly [href: string, text: string] | false> = [
    ...endpoints.map((endpoint) => {
      const { tone, word, sentence } = endpointState(endpoint)
      return tone !== "good" && ([`/endpoints/${endpoint.id}`, `${endpoint.url}: ${word}. ${sentence}`] as const)
    }),
    ...issues
      .filter(({ closedAt }) => closedAt === null)
      .map((issue) => [`/issues/${issue.id}`, `Calls fail: ${describeCause(issue)}.`] as const),
    organization.contacts.length === 0 &&
      endpoints.some(({ notices }) => notices > 0) && [
        "#contacts",
        "Nobody is notified that an endpoint fails: there are no contacts.",
      ],
    ...pollers.filter(isLate).map(({ keyId, lagRows, lagSeconds }) => {
      const notRead = `${formatCapped(lagRows, LIST_COUNT_CAP)} rows, the first for ${formatDuration(lagSeconds)}`
      return ["#pollers", `${nameIn(keys, keyId)} has not read ${notRead}.`] as const
    }),
    badSignatures > 0 && [
      "#inbound",
      `${formatCount(badSignatures)} webhooks had a bad signature in the last 24 hours.`,
    ],
    limited > 0 && ["#requests", `${formatCount(limited)} requests were over the limit in the last 24 hours.`],
  ]
  const found = problems.filter((problem) => problem !== false)
  if (found.length === 0) return <p>Nothing is wrong with this partner.</p>
  return (
    <ul class="problems">
      {found.map(([href, text]) => (
        <li key={text}>
          <a href={href}>
            <ForeignText>{text}</ForeignText>
          </a>
        </li>
      ))}
    </ul>
  )
}

const isLate = ({ lagRows, lagSeconds }: PollerStatus): boolean => lagRows > 0 && lagSeconds > LATE_SECONDS

const Errors = ({ recent, keys }: Partner) => {
  const byCode = new Map<
    string,
    { code: string; callerId: HourlyCount["callerId"]; requests: number; last: HourlyCount["hour"] }
  >()
  for (const { code, callerId, requests, hour } of recent) {
    if (code === "") continue
    const counted = byCode.get(`${code} ${callerId}`)
    byCode.set(`${code} ${callerId}`, { code, callerId, requests: requests + (counted?.requests ?? 0), last: hour })
  }
  return (
    <Table
      caption={`Errors by code, last ${COUNTED_HOURS} hours`}
      rows={[...byCode.values()].sort((a, b) => b.requests - a.requests)}
      empty="No request was answered with an error."
      columns={{
        Code: ({ code }) => <code>{code}</code>,
        Caller: ({ callerId }) => <CallerName id={callerId} keys={keys} />,
        Requests: { count: ({ requests }) => requests },
        "Last in the hour": ({ last }) => <Time at={last} />,
      }}
    />
  )
}

const CallerName = (props: Pick<Partner, "keys"> & { readonly id: string }) => {
  const key = props.keys.find(({ id }) => id === props.id)
  return key === undefined ? <IdLink id={props.id} /> : <ForeignText>{key.name}</ForeignText>
}

const LISTS = { events: "Events", tokens: "Recipients" } as const

const Pollers = ({ pollers, keys }: Partner) => (
  <Section title="Pollers" id="pollers">
    <Table
      caption="How far each key has read the lists"
      rows={pollers}
      empty="No key has read the events or the recipients."
      columns={{
        Key: ({ keyId }) => <CallerName id={keyId} keys={keys} />,
        List: ({ list, types }) => `${LISTS[list]}${types === null ? "" : `: ${types.join(", ")}`}`,
        State: (poller) => <PollerBadge {...poller} />,
        "Not read yet": { count: ({ lagRows }) => lagRows, cap: LIST_COUNT_CAP },
        "Behind the feed": {
          number: ({ lagRows, lagSeconds }) => (lagRows === 0 ? "–" : formatDuration(lagSeconds)),
        },
        "Read up to": ({ at }) => <Time at={at} />,
        "Last page": ({ readAt }) => <Time at={readAt} />,
      }}
    />
  </Section>
)

const PollerBadge = (poller: PollerStatus) => {
  if (poller.lagRows === 0) return <StatusBadge tone="good">Has read all</StatusBadge>
  if (isLate(poller)) return <StatusBadge tone="warning">Behind</StatusBadge>
  return <StatusBadge tone="neutral">{poller.hasMore ? "Reading" : "Newer rows"}</StatusBadge>
}
