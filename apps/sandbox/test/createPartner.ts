import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { listen } from "@outreach/testing/listen"
import { email, npi, SENDER, SENDER_FLAGS } from "@outreach/testing/seedCampaign"
import type { AtEnd } from "@outreach/testing/startProcess"
import { Changes, until } from "@outreach/testing/until"
import { createWebhookVerifier } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import type { artifactIn } from "./artifact.ts"

type OpsJson = ReturnType<typeof artifactIn>["opsJson"]

/**
 * Creates an organization with an endpoint that receives webhooks in this process until the test is finished, or `atEnd` calls back.
 */
export const createPartner = async (opsJson: OpsJson, atEnd?: AtEnd) => {
  const { id } = await opsJson("organizations", "create", "--name", "Acme")
  const ofAcme = ["--organization", id]
  const { signing_secret } = await opsJson("secrets", "rotate", ...ofAcme)
  const changes = new Changes()
  const delivered = new Map<string, string>()
  const requests = new Map<string, number>()
  const server = createServer(
    webhookHandler(createWebhookVerifier({ secrets: [signing_secret] }), (event) => {
      const { event_id, event_type } = event
      delivered.set(event_id, String(event_type))
      requests.set(event_id, (requests.get(event_id) ?? 0) + 1)
      changes.announce()
    }),
  )
  const url = `http://127.0.0.1:${await listen(server, atEnd)}/`
  const endpoint = await opsJson("endpoints", "create", ...ofAcme, "--url", url)
  const program = await opsJson("programs", "create", ...ofAcme, "--slug", "x", "--name", "X", ...SENDER_FLAGS)
  return {
    /** The flag with the organization. */
    ofAcme,
    issueKey: async (): Promise<string> =>
      (await opsJson("keys", "create", ...ofAcme, "--name", "x", "--scopes", "tokens:read,events:read")).api_key,
    endpointId: endpoint.id as string,
    programId: program.id as string,
    signingSecret: signing_secret as string,
    /** Emits on each webhook. */
    changes,
    /** Type of each delivered event, by id. */
    delivered,
    /** Waits until this number of events of a type was delivered. */
    receives: (type: string, count: number): Promise<unknown> =>
      until({ changes }, () => [...delivered.values()].filter((each) => each === type).length === count),
    /** Number of deliveries of each event. */
    requests,
  }
}

/** An event about a clinician who doesn't have to be a recipient. */
export const accountCreated = (n: number) => {
  const event = sampleEvent("clinician.account_created")
  return { ...event, data: { ...event.data, npi: npi(n), email: email(n), consumer_program_slug: "x" } }
}

/** Creates a draft campaign with recipients numbered from `first`. Returns its id. `ops` reads its files from `folder`. */
export const createCampaign = async (
  opsJson: OpsJson,
  options: {
    readonly programId: string
    readonly folder: string
    readonly recipients: number
    readonly first?: number
    readonly flags?: ReadonlyArray<string>
  },
): Promise<string> => {
  const { programId, folder, recipients, first = 0, flags = [] } = options
  const sender = `<p>${SENDER.senderName}, ${SENDER.postalAddress}. <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`
  const html = `<p><a href="https://partner.test/?t={{ token }}">Begin</a></p>${sender}`
  await writeFile(join(folder, "mail.html"), html)
  const lines = Array.from({ length: recipients }, (_, n) => `${npi(first + n)},${email(first + n)}\n`)
  await writeFile(join(folder, "clinicians.csv"), `npi,email\n${lines.join("")}`)
  const { id } = await opsJson(
    ...["campaigns", "create", "--program", programId, "--name", "x", "--subject", "x"],
    ...["--html", join(folder, "mail.html"), ...flags],
    ...["--window-start", "2026-01-01T00:00:00Z", "--window-end", "2099-01-02T00:00:00Z"],
  )
  await opsJson("recipients", "import", "--campaign", id, join(folder, "clinicians.csv"))
  return id
}
