import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { lintFromString, loadConfig } from "@redocly/openapi-core"
import { describe, expect, it } from "vitest"
import { EVENTS, operations } from "../src/index.ts"
import { openapi } from "../src/openapi.ts"

const file = fileURLToPath(new URL("../openapi.json", import.meta.url))
const config = await loadConfig({ configPath: fileURLToPath(new URL("../redocly.yaml", import.meta.url)) })

async function problems(document: unknown): Promise<string[]> {
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: file, config })
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)
}

describe("openapi.json", () => {
  it("matches the contract's generated document (`pnpm openapi` writes it)", () => {
    expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(openapi, null, 2)}\n`)
  })

  it("is clean under every recommended rule of Redocly", async () => {
    expect(await problems(openapi)).toEqual([])
  })

  it("is really linted: the rules reject a document without servers", async () => {
    expect(await problems({ openapi: "3.1.0", info: { title: "x", version: "1" }, paths: {} })).not.toEqual([])
  })

  it("contains every operation and every event", () => {
    const paths = openapi.paths as Record<string, Record<string, { operationId: string }>>
    for (const { path, method, operationId } of Object.values(operations)) {
      expect(paths[path]?.[method.toLowerCase()]?.operationId).toBe(operationId)
    }
    expect(Object.keys(openapi.webhooks ?? {})).toEqual(Object.keys(EVENTS))
  })
})
