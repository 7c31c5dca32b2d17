import { commaSeparated } from "@outreach/domain/commaSeparated"
import { type Endpoint, MAX_IN_FLIGHT } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { testEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { Instant } from "@outreach/domain/Instant"
import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { MAX_REPLAYS_PER_SECOND, ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect, Schema } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { formatCount, formatCounted, formatMillis } from "../../components/format.ts"
import { Facts, LinkLine } from "../../components/lists.tsx"
import { ForeignBlock, StatusBadge } from "../../components/values.tsx"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { refuseStale } from "../../http/refuseStale.ts"

export const ALL_TYPES = "all"

const MAX_SHOWN = 500

const YesOrNo = textSchema("yes or no", (text) => (text === "yes" ? true : text === "no" ? false : undefined))

/** Sends one signed test event, and shows how the endpoint answered. */
export const testEndpointAction = defineAction({
  path: "/endpoints/:endpoint/test",
  role: "operator",
  command: "endpoints test",
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const { delivered, url, eventId, status, outcome, latencyMs, response } = yield* testEndpoint(endpoint)
    return {
      title: "Test event",
      commands: [`ops endpoints test ${endpoint}`],
      body: (
        <>
          <p>
            <StatusBadge tone={delivered ? "good" : "bad"}>{delivered ? "Accepted" : "Not accepted"}</StatusBadge>{" "}
            Nothing of it is recorded, and the breaker stays as it is.
          </p>
          <Facts
            facts={{
              Address: url,
              Event: <code>{eventId}</code>,
              Status: status ?? "none",
              Outcome: outcome,
              Latency: formatMillis(latencyMs),
            }}
          />
          <h2>Response</h2>
          {response === null ? <p>It had no body.</p> : <ForeignBlock>{response.slice(0, MAX_SHOWN)}</ForeignBlock>}
          <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
        </>
      ),
    }
  }),
})

export const showAddressAction = defineAction({
  path: "/endpoints/:endpoint/show",
  role: "operator",
  command: "endpoints show",
  fields: { reveal: required(Schema.Literal("true")) },
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const address = yield* (yield* EndpointRepository).address(endpoint)
    return {
      title: "Address of an endpoint",
      commands: [`ops endpoints show ${endpoint} --reveal`],
      body: (
        <>
          <ForeignBlock>{address}</ForeignBlock>
          <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
        </>
      ),
    }
  }),
})

/** Changes what differs of an endpoint's address, types, headers and maximum of calls in flight. */
export const updateEndpointAction = defineAction({
  path: "/endpoints/:endpoint/update",
  role: "admin",
  command: "endpoints update",
  fields: {
    url: Schema.String.annotate({ expected: "an https address" }),
    types: commaSeparated([ALL_TYPES, ...outboundEventTypes]),
    "max-in-flight": noneOr(wholeNumber(1, MAX_IN_FLIGHT)),
    "standard-webhooks": YesOrNo,
  },
  run: Effect.fnUntraced(function* ({ endpoint, url, types, ...fields }, { version }) {
    const { allowPrivateAddresses } = yield* ConsoleConfig
    const find = (yield* EndpointRepository).find(endpoint)
    const now = yield* find
    const changes = changesOf(now, {
      eventTypes: types === undefined ? undefined : types.includes(ALL_TYPES) ? null : types,
      maxInFlight: fields["max-in-flight"],
      standardWebhooks: fields["standard-webhooks"],
      url,
    })
    const names = Object.keys(changes)
    if (names.length > 0) {
      const change = updateEndpoint(endpoint, changes, { allowPrivate: allowPrivateAddresses, version })
      // The address that was given may hold a secret.
      const given = { ...settingsOf({ ...now, ...changes, url: now.url }), ...(changes.url && { Address: "another" }) }
      yield* refuseStale(Effect.map(find, settingsOf), given)(change)
    }
    return {
      to: `/endpoints/${endpoint}`,
      notice:
        names.length === 0 ? "Nothing was changed: it is so already." : "Changed. Waiting deliveries go by it, too.",
    }
  }),
})

/** Returns the event types of an endpoint as a text. */
export const typesText = (types: Endpoint["eventTypes"]): string =>
  types === null ? "all" : types.join(", ") || "none"

/** Returns the maximum of calls in flight as its form has it. */
export const boundText = (maxInFlight: number | null): string => (maxInFlight === null ? "none" : String(maxInFlight))

/** Says whether an endpoint gets the headers of Standard Webhooks. */
export const headersText = (isSent: boolean): string => (isSent ? "sent, too" : "not sent")

const settingsOf = ({ url, eventTypes, maxInFlight, standardWebhooks }: Endpoint) => ({
  Address: url,
  "Event types": typesText(eventTypes),
  "Calls in flight": boundText(maxInFlight),
  "Standard Webhooks headers": headersText(standardWebhooks),
})

type Changes = Parameters<typeof updateEndpoint>[1]

/** Returns what is given and differs. New event types give each event that waits a row of its own, so the same types are left out. */
const changesOf = (now: Endpoint, given: { readonly [Name in keyof Changes]: Changes[Name] | undefined }): Changes =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(now[name as keyof Endpoint]),
    ),
  )

export const disableEndpointAction = defineAction({
  path: "/endpoints/:endpoint/disable",
  role: "admin",
  command: "endpoints disable",
  run: Effect.fnUntraced(function* ({ endpoint }) {
    yield* (yield* EndpointRepository).disable(endpoint)
    return { to: `/endpoints/${endpoint}`, notice: "Disabled. Its deliveries wait until it is enabled." }
  }),
})

export const enableEndpointAction = defineAction({
  path: "/endpoints/:endpoint/enable",
  role: "admin",
  command: "endpoints enable",
  run: Effect.fnUntraced(function* ({ endpoint }) {
    yield* (yield* EndpointRepository).enable(endpoint)
    return { to: `/endpoints/${endpoint}`, notice: "Enabled. It is called again, whatever failed before." }
  }),
})

/** Sends the events of a period again, after all other deliveries of the endpoint. */
export const replayLogAction = defineAction({
  path: "/endpoints/:endpoint/replay",
  role: "operator",
  command: "endpoints replay",
  fields: {
    from: required(Instant),
    to: required(Instant),
    types: commaSeparated(outboundEventTypes),
    rate: required(wholeNumber(1, MAX_REPLAYS_PER_SECOND, "deliveries per second")),
  },
  run: Effect.fnUntraced(function* ({ endpoint, from, to, types, rate }) {
    const range = { endpointId: endpoint, from, to, ...(types && { eventTypes: types }) }
    const { id, total } = yield* (yield* ReplayJobQueue).createOfLog(range, rate)
    return {
      to: `/endpoints/${endpoint}`,
      notice: `The replay ${id} sends ${formatCounted(total, "event")}, ${formatCount(rate)} a second.`,
    }
  }),
})
