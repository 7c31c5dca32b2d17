import { readFileSync } from "node:fs"
import { ApiConfig } from "@outreach/api/ApiConfig"
import "@outreach/console/ConsoleConfig"
import "@outreach/worker/WorkerConfig"
import { misspeltSettings } from "@outreach/process/misspeltSettings"
import { declaredSettings } from "@outreach/process/setting"
import { ConfigProvider, Effect, Layer } from "effect"
import { expect, it } from "vitest"
import "../src/audit/audited.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")

/** The rows of docs/settings.md: a setting, and the processes that read it. */
const documented = [
  ...readFileSync(new URL("../../../docs/settings.md", import.meta.url), "utf8").matchAll(
    /^\| (`[^|]+`) \| ([^|]+) \|/gm,
  ),
].flatMap(([, names, readBy]) =>
  [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => ({ name: name!, readBy: readBy!.trim() })),
)

it("every setting that a process declares stands in docs/settings.md, and none beside", async () => {
  // Some settings are declared when the others have been read.
  const env = { DATABASE_URL: "postgres://localhost/x", SECRETS_KEY: KEY, CURSOR_KEY: KEY }
  await Effect.runPromise(
    Effect.scoped(Layer.build(ApiConfig.fromEnvironment)).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    ),
  )
  // Tests that run in the same process declare settings of their own.
  const declared = [...declaredSettings].filter((name) => !name.endsWith("_FILE") && !name.startsWith("TEST_"))
  expect([...new Set(documented.map(({ name }) => name))].sort()).toEqual(declared.sort())
})

it.each(["api", "worker", "console", "ops"])("%s takes no setting of another process for a misspelt one", (process) => {
  const own = new Set(
    documented.filter(({ readBy }) => readBy === "all" || readBy.split(", ").includes(process)).map(({ name }) => name),
  )
  expect(own.size).toBeGreaterThan(5)
  const all = [...documented.map(({ name }) => name), ...declaredSettings]
  expect(misspeltSettings(all, own)).toEqual([])
})
