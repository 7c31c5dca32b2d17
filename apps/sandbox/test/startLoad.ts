import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { type Checkpoint, createClient, type Fetch } from "@outreach/client"
import type { mailServer } from "@outreach/testing/mailServer"
import { email, npi } from "@outreach/testing/seedCampaign"
import type { AtEnd } from "@outreach/testing/startProcess"
import { eventually } from "@outreach/testing/until"
import PostalMime from "postal-mime"
import type { artifactIn } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"

/** First numbers of clinicians, so that each kind of load uses different ones. */
const FIRST = { later: 900_000, imported: 1_000_000, inbound: 10_000_000 }
const BEGINNING = "2026-01-01T00:00:00Z"
const MAILS_PER_MINUTE = 600
const IMPORT_SIZE = 5
/** Recipients of a campaign scheduled after the fault, so that there are always e-mails to send. */
const LATER_RECIPIENTS = 50
export const LATER_ADDRESSES: ReadonlySet<string> = new Set(
  Array.from({ length: LATER_RECIPIENTS }, (_, n) => email(FIRST.later + n)),
)
const COMMAND_PATIENCE_MS = 8000
/** Time that a partner or a browser waits for a response: longer than a request's limit. */
const PATIENCE_MS = 30_000

/** A partner's program that follows the feed through one API process and never reads before its checkpoint. */
export interface Poller {
  /** The events it has seen: `emitted_at` by id. */
  readonly seen: ReadonlyMap<string, string>
  /** Polls until the end of the list once. */
  readonly catchUp: () => Promise<void>
}

/** The load, with the results for partner, clinicians and operator. */
export type Load = Awaited<ReturnType<typeof startLoad>>

/**
 * Starts all kinds of load: a campaign sends e-mails, clinicians follow links, an operator imports recipients, and a partner sends events,
 * receives webhooks and polls the feed through each API process.
 */
export const startLoad = async (options: {
  readonly service: Pick<ReturnType<typeof artifactIn>, "ops" | "opsJson">
  readonly apiUrls: ReadonlyArray<string>
  readonly mail: Awaited<ReturnType<typeof mailServer>>
  readonly recipients: number
  /** Folder for the files that `ops` reads. */
  readonly folder: string
  /** Called with the part of the service for each success. */
  readonly report?: (part: string) => void
  /** Sends requests to the API. Default: the global one. */
  readonly fetch?: typeof fetch
  readonly atEnd: AtEnd
}) => {
  const { service, apiUrls, mail, recipients, folder, report = () => {}, fetch: request = fetch, atEnd } = options
  const { opsJson } = service
  const partner = await createPartner(opsJson, atEnd)
  const { programId, endpointId, signingSecret, issueKey } = partner
  const flags = ["--per-minute", String(MAILS_PER_MINUTE)]
  const campaignId = await createCampaign(opsJson, { programId, folder, recipients, flags })
  const later = { recipients: LATER_RECIPIENTS, first: FIRST.later }
  const laterId = await createCampaign(opsJson, { programId, folder, ...later, flags })
  const draftId = await createCampaign(opsJson, { programId, folder, recipients: 1, first: FIRST.imported })
  const over = new AbortController()
  atEnd(async () => over.abort())

  let longestMs = 0
  /** Statuses of responses that have neither the requested data nor the envelope of errors. */
  const withoutEnvelope: Array<number> = []
  const timed: typeof fetch = async (url, init) => {
    const start = performance.now()
    return await request(url, init).finally(() => {
      longestMs = Math.max(longestMs, performance.now() - start)
    })
  }
  /** Calls one API process over a kept connection, like a load balancer. */
  const clientOf = async (api: number) => {
    const send: Fetch = async (url, init) => {
      const response = await timed(url, init)
      if (response.ok) report(`${init.method === "POST" ? "writes" : "reads"} of API ${api + 1}`)
      else if (!(await hasEnvelope(response.clone()))) withoutEnvelope.push(response.status)
      return response
    }
    return createClient({
      ...{ apiKey: await issueKey(), baseUrl: apiUrls[api]!, fetch: send },
      ...{ retryDelays: [], timeout: PATIENCE_MS / 1000 },
    })
  }

  const acknowledged = new Map<string, { readonly event: ReturnType<typeof accountCreated>; readonly at: string }>()
  const sendInbound = async (api: number) => {
    const client = await clientOf(api)
    for (let n = FIRST.inbound + api; !over.signal.aborted; n += apiUrls.length) {
      const event = accountCreated(n)
      // Repeats until acknowledged, like a partner.
      while (!over.signal.aborted && !acknowledged.has(event.event_id)) {
        await client.sendEvent(endpointId, event, { secrets: [signingSecret] }).then(
          () => acknowledged.set(event.event_id, { event, at: new Date().toISOString() }),
          () => setTimeout(100),
        )
      }
      await setTimeout(30)
    }
  }

  const poll = async (api: number): Promise<Poller & { readonly ended: Promise<void> }> => {
    const client = await clientOf(api)
    const seen = new Map<string, string>()
    let checkpoint: Checkpoint = { since: BEGINNING }
    const walk = async (everySeconds: number | null, signal?: AbortSignal) => {
      const place = { checkpoint, everySeconds, overlapSeconds: 0 }
      for await (const batch of client.sync.events({ ...place, ...(signal && { signal }) })) {
        for (const { event_id, emitted_at } of batch.events) seen.set(event_id, emitted_at)
        checkpoint = batch.checkpoint
      }
    }
    const ended = (async () => {
      while (!over.signal.aborted) await walk(1, over.signal).catch(() => setTimeout(500))
    })()
    return { seen, ended, catchUp: () => walk(null) }
  }

  let clicked = 0
  const click = async () => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const message = mail.messages[clicked]
      if (message === undefined) {
        await setTimeout(50)
        continue
      }
      const { html = "" } = await PostalMime.parse(message.text)
      const { pathname } = new URL(/href="(http[^"]+)"/.exec(html)![1]!)
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const sent = timed(apiUrls[turn % apiUrls.length] + pathname, { redirect: "manual", signal })
      if ((await sent.catch(() => undefined))?.status === 302) clicked += 1
    }
  }

  const imported: Array<string> = []
  const importRecipients = async () => {
    const commands: Array<Promise<unknown>> = []
    for (let n = FIRST.imported + 1; !over.signal.aborted; n += IMPORT_SIZE) {
      const numbers = Array.from({ length: IMPORT_SIZE }, (_, i) => n + i)
      const file = join(folder, `later-${n}.csv`)
      await writeFile(file, `npi,email\n${numbers.map((each) => `${npi(each)},${email(each)}\n`).join("")}`)
      const command = service.ops("recipients", "import", "--campaign", draftId, file).then(
        () => imported.push(...numbers.map((each) => email(each))),
        () => {},
      )
      commands.push(command)
      // An operator doesn't wait long for a command, and repeats it.
      await Promise.race([command, setTimeout(COMMAND_PATIENCE_MS)])
      await setTimeout(2000, undefined, { signal: over.signal }).catch(() => {})
    }
    await Promise.all(commands)
  }

  await opsJson("campaigns", "schedule", campaignId)
  const apis = apiUrls.map((_, api) => api)
  const pollers = await Promise.all(apis.map(poll))
  const ended = pollers.map((poller) => poller.ended)
  const work = Promise.all([...apis.map(sendInbound), ...ended, click(), importRecipients()])
  // An unexpected failure fails the run when the work is awaited.
  work.catch(() => over.abort())

  return {
    partner,
    campaignId,
    laterId,
    recipients: recipients + LATER_RECIPIENTS,
    /** The accepted events of the partner by id, each with the time of its response. */
    acknowledged: acknowledged as ReadonlyMap<string, NonNullable<ReturnType<typeof acknowledged.get>>>,
    imported,
    pollers: pollers as ReadonlyArray<Poller>,
    clicked: () => clicked,
    /** The longest time of a request in seconds, and the statuses of responses without the envelope of errors. */
    requests: () => ({ longest: Math.round(longestMs / 100) / 10, withoutEnvelope }),
    /** Counts of each kind of load. */
    progress: () => [acknowledged.size, partner.delivered.size, pollers[0]!.seen.size, mail.messages.length, clicked],
    /** Schedules another campaign. */
    scheduleLater: () =>
      eventually(
        async () => {
          await opsJson("campaigns", "schedule", laterId).catch(() => {})
          return await opsJson("campaigns", "show", laterId).catch(() => ({ status: "draft" }))
        },
        ({ status }) => status !== "draft",
      ),
    /** Rejects if a part of the load fails unexpectedly. */
    work,
    /** Stops everything except the campaigns. */
    stop: async () => {
      over.abort()
      await work
    },
  }
}

const hasEnvelope = async (response: Response): Promise<boolean> => {
  const body = (await response.json().catch(() => ({}))) as { error?: Readonly<Record<string, unknown>> }
  return ["type", "code", "message", "request_id"].every((field) => typeof body.error?.[field] === "string")
}
