import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Effect, Exit, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { expect, it, onTestFinished } from "vitest"
import { drainableServer } from "../src/drainableServer.ts"
import { listen } from "../src/listen.ts"

/** Waits for the rest of a request, which may never come. */
const waitForBody = Effect.gen(function* () {
  const { source } = yield* HttpServerRequest.HttpServerRequest
  yield* Effect.callback<void>((resume) => void (source as IncomingMessage).on("close", () => resume(Effect.void)))
  return HttpServerResponse.empty()
})

it("stops once its drain has passed, although a request still waits for its body", async () => {
  const { server } = drainableServer({}, 50)
  const scope = Scope.makeUnsafe()
  const serving = Effect.gen(function* () {
    const http = yield* listen(server, { host: "127.0.0.1", port: 0, hostSetting: "HOST", portSetting: "PORT" })
    yield* http.serve(waitForBody)
  })
  await Effect.runPromise(Scope.provide(serving, scope))
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {})
  onTestFinished(() => void client.destroy())
  const closed = once(client, "close")
  client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
  await once(server, "request")
  await Effect.runPromise(Scope.close(scope, Exit.void))
  expect(server.listening).toBe(false)
  await closed
})
