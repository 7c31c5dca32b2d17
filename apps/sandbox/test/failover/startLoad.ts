import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { ApiError, type Checkpoint, createClient, type Fetch } from "@outreach/client"
import { eventually } from "@outreach/testing/eventually"
import type { mailServer } from "@outreach/testing/mailServer"
import { email, npi } from "@outreach/testing/seedCampaign"
import PostalMime from "postal-mime"
import type { artifactIn } from "../artifact.ts"
import { accountCreated, createCampaign, createPartner } from "../createPartner.ts"
import type { AtEnd } from "./startCluster.ts"
import type { Roles } from "./watchRoles.ts"

/** Numbers of clinicians begin here, so that no two kinds of load write about the same one. */
const FIRST = { later: 900_000, imported: 1_000_000, inbound: 10_000_000 }
const BEGINNING = "2026-01-01T00:00:00Z"
const MAILS_PER_MINUTE = 600
const IMPORT_SIZE = 5
/** The recipients of a campaign that is scheduled after the fault, so that there is something to send however late it is. */
const LATER_RECIPIENTS = 50
const COMMAND_PATIENCE_MS = 8000
/** How long a partner or a browser waits for a response: longer than a request may take. */
const PATIENCE_MS = 30_000
/** How many recipients of each announcement are looked up. */
const LOOKED_UP = 20

/** A program of the partner's that follows the feed through one process of the API, and never looks behind its checkpoint. */
export interface Poller {
  /** The events that it has seen, with the time at which they were emitted. */
  readonly seen: ReadonlyMap<string, string>
  /** How many milliseconds after its emission each event was seen, while the load lasted. */
  readonly delays: ReadonlyArray<number>
  /** Polls until the end of the list, once more. */
  readonly catchUp: () => Promise<void>
}

/** What is put on the service by a partner, clinicians and an operator, and what they were told of it. */
export type Load = Awaited<ReturnType<typeof startLoad>>

/**
 * Starts everything that happens to the service at once: a campaign sends e-mails, clinicians follow their links, an operator
 * imports recipients, and a partner sends events, receives webhooks and polls the feed through each process of the API.
 */
export const startLoad = async (options: {
  readonly service: Pick<ReturnType<typeof artifactIn>, "ops" | "opsJson">
  readonly apiUrls: ReadonlyArray<string>
  readonly mail: Awaited<ReturnType<typeof mailServer>>
  /** For how long the campaign has recipients. */
  readonly seconds: number
  /** A folder for the files that `ops` reads. */
  readonly folder: string
  readonly roles: Roles
  readonly atEnd: AtEnd
}) => {
  const { service, apiUrls, mail, seconds, folder, roles, atEnd } = options
  const { opsJson } = service
  const partner = await createPartner(opsJson, atEnd, (event) => {
    if (event.event_type === "outreach.recipients_published") {
      looking.push(lookUp(event.data.recipients.slice(0, LOOKED_UP).map(({ token }) => token)))
    }
  })
  const looking: Array<Promise<void>> = []
  const lookups = { found: 0, notFound: 0 }
  /** Looks up recipients that the service has just announced, as a partner may at once. */
  const lookUp = async (tokens: ReadonlyArray<string>) => {
    for (const [turn, token] of tokens.entries()) {
      const client = clients[turn % clients.length]!
      await client.getToken(token).then(
        () => (lookups.found += 1),
        (error) => {
          if (error instanceof ApiError && error.status === 404) lookups.notFound += 1
        },
      )
    }
  }
  const { programId, endpointId, signingSecret, issueKey } = partner
  const recipients = Math.ceil((seconds * MAILS_PER_MINUTE) / 60)
  const flags = ["--per-minute", String(MAILS_PER_MINUTE)]
  const campaignId = await createCampaign(opsJson, { programId, folder, recipients, flags })
  const later = { recipients: LATER_RECIPIENTS, first: FIRST.later }
  const laterId = await createCampaign(opsJson, { programId, folder, ...later, flags })
  const draftId = await createCampaign(opsJson, { programId, folder, recipients: 1, first: FIRST.imported })
  const over = new AbortController()
  atEnd(async () => over.abort())

  /** Calls one process of the API, as a load balancer that keeps a connection to it, and notes when that succeeds. */
  const clientOf = async (api: number) => {
    const send: Fetch = async (url, request) => {
      const role = `api ${api + 1} ${request.method === "POST" ? "writes" : "reads"}`
      const begun = performance.now()
      try {
        const response = await fetch(url, request)
        if (response.ok) roles.did(role, begun)
        else roles.failed(role, String(response.status))
        return response
      } catch (error) {
        if (!over.signal.aborted) roles.failed(role, error instanceof Error ? error.name : "error")
        throw error
      } finally {
        roles.waited(role, begun)
      }
    }
    return createClient({
      ...{ apiKey: await issueKey(), baseUrl: apiUrls[api]!, fetch: send },
      ...{ retryDelays: [], timeout: PATIENCE_MS / 1000 },
    })
  }

  const clients = await Promise.all(apiUrls.map((_, api) => clientOf(api)))
  const acknowledged = new Set<string>()
  const sendInbound = async (api: number) => {
    const client = clients[api]!
    for (let n = FIRST.inbound + api; !over.signal.aborted; n += apiUrls.length) {
      const event = accountCreated(n)
      // As a partner does, until it is acknowledged.
      while (!over.signal.aborted && !acknowledged.has(event.event_id)) {
        await client.sendEvent(endpointId, event, { secrets: [signingSecret] }).then(
          () => acknowledged.add(event.event_id),
          () => setTimeout(100),
        )
      }
      await setTimeout(30)
    }
  }

  const poll = async (api: number): Promise<Poller & { readonly ended: Promise<void> }> => {
    const client = await clientOf(api)
    const seen = new Map<string, string>()
    const delays: Array<number> = []
    let checkpoint: Checkpoint = { since: BEGINNING }
    const walk = async (everySeconds: number | null, signal?: AbortSignal) => {
      const place = { checkpoint, everySeconds, overlapSeconds: 0 }
      for await (const batch of client.sync.events({ ...place, ...(signal && { signal }) })) {
        for (const { event_id, emitted_at } of batch.events) {
          seen.set(event_id, emitted_at)
          if (signal !== undefined) delays.push(Date.now() - Date.parse(emitted_at))
        }
        checkpoint = batch.checkpoint
      }
    }
    const ended = (async () => {
      while (!over.signal.aborted) await walk(1, over.signal).catch(() => setTimeout(500))
    })()
    return { seen, delays, ended, catchUp: () => walk(null) }
  }

  const walks = { ended: 0, missed: 0 }
  /** Reads the whole feed again and again: each walk has what a poller had seen before it began. */
  const walkAll = async () => {
    const client = await clientOf(apiUrls.length - 1)
    while (!over.signal.aborted) {
      const known = new Set(pollers.flatMap(({ seen }) => [...seen.keys()]))
      const read = async () => {
        for await (const { event_id } of client.listEvents({ since: BEGINNING, limit: 100 })) known.delete(event_id)
        walks.ended += 1
        walks.missed = Math.max(walks.missed, known.size)
      }
      // A walk that fails is begun anew.
      await read().catch(() => {})
      await setTimeout(10_000, undefined, { signal: over.signal }).catch(() => {})
    }
  }

  let clicked = 0
  const click = async () => {
    let turn = 0
    while (!over.signal.aborted) {
      const message = mail.messages[clicked]
      if (message === undefined) {
        await setTimeout(50)
        continue
      }
      const { html = "" } = await PostalMime.parse(message.text)
      const { pathname, search } = new URL(/href="(http[^"]+)"/.exec(html)![1]!)
      const api = turn++ % apiUrls.length
      const begun = performance.now()
      const response = await fetch(apiUrls[api] + pathname + search, {
        redirect: "manual",
        headers: { "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" },
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).catch(() => undefined)
      roles.waited("clicks", begun)
      if (response?.status === 302) clicked += 1
      else roles.failed("clicks", String(response?.status ?? "no response"))
    }
  }

  const imported: Array<string> = []
  const importRecipients = async () => {
    const commands: Array<Promise<unknown>> = []
    for (let n = FIRST.imported + 1; !over.signal.aborted; n += IMPORT_SIZE) {
      const numbers = Array.from({ length: IMPORT_SIZE }, (_, i) => n + i)
      const file = join(folder, `later-${n}.csv`)
      await writeFile(file, `npi,email\n${numbers.map((each) => `${npi(each)},${email(each)}\n`).join("")}`)
      const begun = performance.now()
      const command = service.ops("recipients", "import", "--campaign", draftId, file).then(
        () => {
          imported.push(...numbers.map((each) => email(each)))
          // A command takes long to load on a busy machine, which is no outage.
          roles.did("ops", begun, begun)
        },
        () => roles.failed("ops", "failed"),
      )
      commands.push(command)
      // An operator does not wait long for a command, and tries another.
      await Promise.race([command, setTimeout(COMMAND_PATIENCE_MS)])
      await setTimeout(2000, undefined, { signal: over.signal }).catch(() => {})
    }
    await Promise.all(commands)
  }

  /** The requests of one key that were let through, by the window that their response named. */
  const windows = new Map<string, number>()
  const exhaustKey = async () => {
    const headers = { Authorization: `Bearer ${await issueKey()}` }
    for (let turn = 0; !over.signal.aborted; turn++) {
      const url = `${apiUrls[turn % apiUrls.length]}/v1/partners/consumer/events?since=2099-01-01T00:00:00Z&limit=1`
      const begun = performance.now()
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined)
      roles.waited(`api ${(turn % apiUrls.length) + 1} reads`, begun)
      const window = response?.headers.get("X-RateLimit-Reset")
      if (response?.status === 200 && window) windows.set(window, (windows.get(window) ?? 0) + 1)
      await response?.arrayBuffer().catch(() => {})
      await setTimeout(response?.status === 200 ? 20 : 250)
    }
  }

  const noteArrivals = async () => {
    let [mails, webhooks] = [0, 0]
    let lastLook = performance.now()
    while (!over.signal.aborted) {
      const look = performance.now()
      const delivered = [...partner.requests.values()].reduce((sum, count) => sum + count, 0)
      if (mail.messages.length > mails) roles.did("mail", lastLook)
      if (delivered > webhooks) roles.did("webhooks", lastLook)
      mails = mail.messages.length
      webhooks = delivered
      lastLook = look
      await setTimeout(50)
    }
  }

  const apis = apiUrls.map((_, api) => api)
  const pollers = await Promise.all(apis.map(poll))
  const work = Promise.all([
    ...apis.map(sendInbound),
    ...pollers.map(({ ended }) => ended),
    ...[walkAll(), click(), importRecipients(), exhaustKey(), noteArrivals()],
  ])
  // What fails outright fails the run, when it is awaited.
  work.catch(() => over.abort())
  await opsJson("campaigns", "schedule", campaignId)

  return {
    partner,
    recipients: recipients + LATER_RECIPIENTS,
    acknowledged,
    imported,
    pollers: pollers as ReadonlyArray<Poller>,
    windows,
    lookups,
    walks,
    clicked: () => clicked,
    /** Counts what happens, by kind. */
    progress: () => [acknowledged.size, partner.delivered.size, pollers[0]!.seen.size, mail.messages.length, clicked],
    /** Schedules another campaign. */
    scheduleLater: async () => {
      await eventually(
        async () => {
          await opsJson("campaigns", "schedule", laterId).catch(() => {})
          return await opsJson("campaigns", "show", laterId).catch(() => ({ status: "draft" }))
        },
        ({ status }) => status !== "draft",
      )
    },
    /** Ends all but the campaigns and the clicks of its recipients. */
    stop: async () => {
      over.abort()
      await work
      await Promise.all(looking)
    },
  }
}
