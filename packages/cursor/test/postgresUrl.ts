import { inject } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

/** Returns the address of the server that the run of the tests started. A leaf declares no package of this repository, not even for tests. */
export function postgresUrl(): string {
  return inject("postgresUrl")
}
