import { execFile, spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { reconcile } from "../../src/docs/samples/reconcile.ts"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi } from "../startApi.ts"
import { samplesOf } from "./samplesOf.ts"

const api = startApi()

const EXAMPLES = "../../../../../examples/"
const receivers = globSync(
  "{receivers/*,nestjs/src/{main,webhooks.service},{nextjs,react-router,sveltekit}/**/{route,webhooks,+server}}.ts",
  { cwd: new URL(`../../src/docs/samples/${EXAMPLES}`, import.meta.url), exclude: ["**/node_modules"] },
)

it.each<ReadonlyArray<string>>([
  ["verifySignature.ts", "webhooks"],
  ["reconcile.ts", "pagination"],
  ["languages/reconcile.py", "pagination"],
  ...receivers.map((file) => [EXAMPLES + file, "webhooks", file.replace(/^[\w-]+\//, "")]),
])("the guide shows the file that a test runs, unchanged: %s", async (file, page, label = basename(file!)) => {
  const text = await (await fetch(`${api().url}/docs/${page}`)).text()
  const source = readFileSync(new URL(`../../src/docs/samples/${file}`, import.meta.url), "utf8")
  expect(samplesOf(text).get(label)).toBe(source)
})

/** Runs the Python sample, and passes on the events that it stores. */
const reconcileInPython: typeof reconcile = async ({ baseUrl, key }, checkpoint, store) => {
  const program = `import json, sys
from reconcile import reconcile
reconcile(*sys.argv[1:], lambda events, reached: print(json.dumps([events, reached])))`
  const folder = fileURLToPath(new URL("../../src/docs/samples/languages", import.meta.url))
  const env = { PATH: process.env["PATH"], PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" }
  const args = ["-c", program, baseUrl, key, checkpoint]
  const { stdout } = await promisify(execFile)("python3", args, { env, maxBuffer: 2 ** 26 })
  for (const line of stdout.trim().split("\n")) await store(...(JSON.parse(line) as Parameters<typeof store>))
}
const hasPython = spawnSync("python3", ["--version"]).error === undefined

describe.each([["TypeScript", reconcile], ...(hasPython ? ([["Python", reconcileInPython]] as const) : [])] as const)(
  "the reconciliation in %s",
  (_, reconcile) => {
    it("stores every event once, over pages and from checkpoint to checkpoint", async () => {
      const { campaign, key } = await api().seed(1)
      const publish = (count: number) =>
        api().run(publishOutcomes(campaign, Array<"outreach.email_sent">(count).fill("outreach.email_sent")))

      const stored = new Map<string, string>()
      let checkpoint = "2026-01-01T00:00:00.000000Z"
      const pages: Array<number> = []
      const poll = () =>
        reconcile({ baseUrl: api().url, key }, checkpoint, async (events, reached) => {
          pages.push(events.length)
          for (const { event_id, emitted_at } of events) stored.set(event_id, emitted_at)
          checkpoint = reached
        })

      await poll()
      const ids = [...(await publish(501))]
      await poll()
      ids.push(...(await publish(1)))
      await poll()
      expect([...stored.keys()]).toEqual(ids)
      expect(checkpoint).toBe([...stored.values()].at(-1))
      expect(pages).toEqual([0, 500, 1, 500, 2])
    })
  },
)
