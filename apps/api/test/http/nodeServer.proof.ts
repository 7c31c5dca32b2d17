import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { expect, it } from "vitest"
import { startApi } from "../startApi.ts"

const api = startApi()

// Every 5 s, the server checks for request heads older than 10 s.
it("a connection is closed with 400 if its request does not arrive in time", async () => {
  const socket = connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })
  socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"request: did not arrive in time"')
})
