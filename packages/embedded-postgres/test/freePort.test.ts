import { freePort } from "@outreach/embedded-postgres/freePort"
import { expect, it } from "vitest"

it("a free port is one that the system gives to no connection and to no listener that names none", async () => {
  for (let i = 0; i < 20; i++) expect(await freePort()).toBeLessThan(32_768)
})
