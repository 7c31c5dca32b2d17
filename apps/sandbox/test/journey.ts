import { createClient } from "@outreach/client"
import { eventually } from "@outreach/testing/eventually"
import type { mailServer } from "@outreach/testing/mailServer"
import PostalMime from "postal-mime"
import { expect } from "vitest"
import type { artifactIn } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"

const ACCOUNTS = 50

/** Where a journey takes place: processes of the artifact that run, and the mail server that they send to. */
interface Journey {
  /** The command line, as the operators run it. */
  readonly opsJson: ReturnType<typeof artifactIn>["opsJson"]
  readonly apiUrl: string
  readonly mail: Awaited<ReturnType<typeof mailServer>>
  /** A folder for the files that `ops` reads. */
  readonly folder: string
  readonly recipients: number
  /** Looks on, again and again while e-mails are sent and links are followed. */
  readonly observe?: () => Promise<void>
}

/**
 * Takes a campaign from import to the pull API: e-mails, signed webhooks, opens, clicks, inbound events, digest and both lists.
 *
 * It expects each of them for each recipient.
 */
export const expectJourney = async (journey: Journey): Promise<void> => {
  const { opsJson, apiUrl, mail, folder, recipients, observe = async () => {} } = journey
  const { ofAcme, issueKey, endpointId, programId, signingSecret, delivered } = await createPartner(opsJson)
  const client = createClient({ apiKey: await issueKey(), baseUrl: apiUrl, retryDelays: [] })

  const campaignId = await createCampaign(opsJson, { programId, folder, recipients })
  await opsJson("campaigns", "schedule", campaignId)
  const eachDelivered = (type: string) =>
    eventually(
      async () => {
        await observe()
        return [...delivered.values()].filter((each) => each === type).length
      },
      (count) => count === recipients,
      300_000,
    )
  await eachDelivered("outreach.email_sent")
  expect(mail.messages).toHaveLength(recipients)

  // All at once, so that requests share connections.
  const headers = { "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" }
  const statuses = await Promise.all(
    mail.messages.map(async ({ text }) => {
      const { html = "" } = await PostalMime.parse(text)
      const pixel = await fetch(/<img src="([^"]+)"/.exec(html)![1]!, { headers })
      const click = await fetch(/href="(http[^"]+)"/.exec(html)![1]!, { headers, redirect: "manual" })
      return [pixel.status, click.status]
    }),
  )
  expect(statuses).toEqual(Array.from({ length: recipients }, () => [200, 302]))
  await eachDelivered("outreach.email_opened")
  await eachDelivered("outreach.email_clicked")

  await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, n) =>
      client.sendEvent(endpointId, accountCreated(n), { secrets: [signingSecret] }),
    ),
  )
  await eventually(
    () => opsJson("inbox", "list", ...ofAcme, "--waiting"),
    ({ data }) => data.length === 0,
  )
  const date = new Date().toISOString().slice(0, 10)
  const digest = await opsJson("digests", "show", ...ofAcme, date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: ACCOUNTS } } }])

  const records = []
  for await (const record of client.listTokens({ since: "2026-01-01T00:00:00Z" })) records.push(record)
  expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(recipients)
  const pulled = new Set<string>()
  for await (const { event_id } of client.listEvents({ since: "2026-01-01T00:00:00Z" })) pulled.add(event_id)
  expect(pulled.size).toBe(3 * recipients)
}
