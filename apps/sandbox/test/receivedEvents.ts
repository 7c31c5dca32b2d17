import { createClient } from "@outreach/client"
import { type EventEnvelope, RecipientRecord } from "@outreach/contract"
import type { PartnerCounts } from "../src/partnerPage.ts"
import { type Addresses, getJson } from "./runSandbox.ts"

/** The content of the sample partner's `/received.json`. */
export interface Received extends PartnerCounts {
  readonly events: ReadonlyArray<EventEnvelope>
}

export const received = async ({ partner_url }: Addresses): Promise<Received> =>
  (await getJson(partner_url)) as Received

/** Collects the recipients of every published batch. */
export const published = ({ events }: Received) =>
  events.flatMap((event) => (event.event_type === "outreach.recipients_published" ? event.data.recipients : []))

/** Pulls all records page by page, like a partner. A record that changes in the meantime is repeated, and the last version counts. */
export const pull = async ({ base_url, api_key }: Addresses): Promise<RecipientRecord[]> => {
  const client = createClient({ apiKey: api_key, baseUrl: base_url })
  const records = new Map<string, RecipientRecord>()
  for await (const record of client.listTokens({ since: "2020-01-01T00:00:00Z", limit: 300 })) {
    records.set(record.token, RecipientRecord.parse(record))
  }
  return [...records.values()]
}
