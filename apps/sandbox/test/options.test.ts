import { Effect } from "effect"
import { expect, it } from "vitest"
import { readOptions } from "../src/options.ts"

it("parses the given options", async () => {
  expect(await Effect.runPromise(readOptions(["--port", "9000", "--folder", "/tmp/x", "--fresh"]))).toEqual({
    host: "127.0.0.1",
    port: 9000,
    consolePorts: [8090, 0],
    fresh: true,
    folder: "/tmp/x",
    recipients: undefined,
  })
  expect(await Effect.runPromise(readOptions(["--help"]))).toContain("npm start -- [--port 8080]")
  expect(await Effect.runPromise(readOptions(["--version"]))).toBe("0.0.0-dev")
})

it.each([
  [["--port", "abc"], "--port must be a port from 1 to 65535."],
  [["--console-port", "65536"], "--console-port must be a port from 1 to 65535."],
  [["--host", "0.0.0.0"], "--host must be a loopback address such as 127.0.0.2"],
  [["--no-such-option"], "Unknown option '--no-such-option'"],
  [["--recipients", "/no/such/file.csv"], "--recipients: /no/such/file.csv does not exist."],
])("says what is wrong with %j", async (args, sentence) => {
  const { message } = await Effect.runPromise(Effect.flip(readOptions(args)))
  expect(message).toContain(sentence)
})
