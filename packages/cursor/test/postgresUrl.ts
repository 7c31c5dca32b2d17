import { inject } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresStarter: string
  }
}

/** Returns the address of the server that the tests of a run share. A leaf declares no package of this repository, not even for tests. */
export async function postgresUrl(): Promise<string> {
  return await (await fetch(inject("postgresStarter"))).text()
}
