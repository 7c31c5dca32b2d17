import { readFile } from "node:fs/promises"
import { operations } from "@outreach/contract"
import { expect, it, onTestFinished } from "vitest"
import { runApi } from "../runApi.ts"
import { startApi } from "../startApi.ts"

const api = startApi()

it("counts responses by operation and status, and refusals by reason, and names no path, key or caller", async () => {
  const { organization } = await api().seed(1)
  const key = await api().issue(organization.id, ["events:read"])
  const { url, adminUrl, stop } = await runApi(api().databaseUrl)
  onTestFinished(stop)
  const get = async (path: string, text?: string) =>
    (await fetch(url + path, { headers: text === undefined ? {} : { Authorization: `Bearer ${text}` } })).status
  const token = "/v1/partners/consumer/tokens/aB3xY9"
  expect([
    await get("/v1/health"),
    await get("/readyz"),
    await get(token, key.text),
    await get(token),
    await get("/somewhere/secret"),
  ]).toEqual([200, 200, 403, 401, 404])

  const operators = await adminUrl()
  expect(await (await fetch(`${operators}/readyz`)).text()).toBe("ready\n")
  const text = await (await fetch(`${operators}/metrics`)).text()
  for (const line of [
    'outreach_http_requests_total{operation="getHealth",status="200"} 1',
    'outreach_http_requests_total{operation="getToken",status="403"} 1',
    'outreach_http_requests_total{operation="getToken",status="401"} 1',
    'outreach_http_requests_total{operation="page",status="200"} 1',
    'outreach_http_requests_total{operation="none",status="404"} 1',
    'outreach_http_request_duration_seconds_count{operation="getToken"} 2',
    'outreach_http_refusals_total{reason="unauthenticated"} 1',
    'outreach_http_refusals_total{reason="scope"} 1',
    'outreach_http_refusals_total{reason="connection_limit"} 0',
    "outreach_hits_queued 0",
    "outreach_hits_dropped_total 0",
    "outreach_database_up 1",
  ]) {
    expect(text.split("\n")).toContain(line)
  }
  expect(text).not.toMatch(/aB3xY9|secret|127\.0\.0\.1/)
  expect(text).not.toContain(key.text)
  const labels = [...text.matchAll(/operation="(\w+)"/g)].map(([, operation]) => operation)
  for (const label of labels) expect([...Object.keys(operations), "page", "none"]).toContain(label)
  const documented = await readFile(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
  for (const [, name] of text.matchAll(/^# TYPE (outreach_\S+) /gm)) expect(documented).toContain(`\`${name}`)
})
