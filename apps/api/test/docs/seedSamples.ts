import { Redacted } from "effect"
import { KEY_PLACEHOLDER } from "../../src/docs/requestSamples.ts"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import type { TestApi } from "../startApi.ts"

export type SampleValues = Awaited<ReturnType<typeof seedSamples>>

/** Seeds three recipients and an event of each. `fill` puts the values into a sample, as its reader does. */
export const seedSamples = async (api: TestApi) => {
  const { organization, campaign, endpoint, secret, key } = await api.seed(3)
  const events = await api.run(
    publishOutcomes(campaign, ["outreach.email_sent", "outreach.email_bounced", "outreach.email_clicked"]),
  )
  const read = (path: string) =>
    fetch(`${api.url}/v1/partners/consumer/${path}`, { headers: { Authorization: `Bearer ${key}` } })
  const list = async (path: string) =>
    (await (await read(path)).json()) as { data: ReadonlyArray<{ token: string }>; next_cursor: string }
  const { token } = (await list("tokens?since=2026-01-01T00:00:00Z")).data[0]!
  const values = {
    [KEY_PLACEHOLDER]: key,
    "/aB3xY9": `/${token}`,
    cmp_0199c2f27e1b7c3e8d5a4b6f90a1c2d3: campaign.id,
    whe_0199c2f27e1b7c3e8d5a4b6f90a1c2d3: endpoint.id,
    whsec_YOUR_SECRET: Redacted.value(secret),
    NEXT_CURSOR: (await list("events?since=2026-01-01T00:00:00Z&limit=2")).next_cursor,
    "5d41402abc4b2a76": (await read(`tokens/${token}`)).headers.get("ETag")!.slice(1, -1),
  }
  const fill = (sample: string): string =>
    Object.entries(values).reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), sample)
  return { organization, events, token, fill }
}
