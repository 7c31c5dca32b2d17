import { Hints } from "@outreach/postgres/events/Hints"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { eventually } from "@outreach/testing/until"
import { Effect, Layer, ManagedRuntime } from "effect"
import { expect, it, onTestFinished } from "vitest"

const url = migratedDatabase()

it("hints are received again after the server stopped responding", async () => {
  const port = Number(new URL(url()).port)
  const proxy = await tcpProxy(port)
  const address = proxy.through(url())
  const database = databaseLayer({ database: databaseAt(address), applicationName: "silence" })
  const runtime = ManagedRuntime.make(Layer.provideMerge(Hints.layer, database))
  onTestFinished(() => runtime.dispose())
  const received: Array<string> = []
  const listening = runtime.runFork(
    Hints.use(({ listen }) =>
      listen(({ topic, organizationId }) => Effect.sync(() => void received.push(`${topic} ${organizationId}`))),
    ),
  )
  const hears = (id: string) =>
    eventually(
      () => runtime.runPromise(Hints.use(({ give }) => give("inbox", id as never))),
      () => received.includes(`inbox ${id}`),
    )
  await hears("org_1")
  const startedAt = performance.now()
  proxy.moveTo(port, "mute")
  // An earlier hint may still be on its way, so this one is for a different organization.
  await hears("org_2")
  console.log(`hints are received again after ${Math.round(performance.now() - startedAt)} ms`)
  expect(proxy.connections()).toBeGreaterThan(0)
  listening.interruptUnsafe()
})
