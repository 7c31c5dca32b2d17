import { inject } from "vitest"
import type {} from "./vitestServer.ts"

/** Returns the URL of the server that the tests of a run share, and starts it on the first call. */
export async function postgresUrl(): Promise<string> {
  const response = await fetch(inject("postgresStarter"))
  if (!response.ok) throw new Error(await response.text())
  return await response.text()
}
