import { createSocket } from "node:dgram"
import { once } from "node:events"
import { reservePort } from "@outreach/embedded-postgres/reservePort"
import { expect, it } from "vitest"

it("a reserved port is one that the system gives to no connection and to no listener that names none", async () => {
  for (let i = 0; i < 20; i++) expect(await reservePort()).toBeLessThan(32_768)
})

it("nobody else can reserve a reserved port", async () => {
  const port = await reservePort()
  const [error] = await once(createSocket("udp4").bind({ port, address: "127.0.0.1", exclusive: true }), "error")
  expect(error).toMatchObject({ code: "EADDRINUSE" })
})
