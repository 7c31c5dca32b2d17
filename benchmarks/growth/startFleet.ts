import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import type { Sql } from "postgres"
import { ours } from "../delivery/candidates.ts"
import { waitFor } from "../waitFor.ts"

/** Starts workers, and waits until each owns its share of the endpoints. */
export async function startFleet(
  { databaseUrl, sql }: { readonly databaseUrl: string; readonly sql: Sql },
  count: number,
): Promise<readonly ChildProcess[]> {
  const fleet = Array.from({ length: count }, () => {
    const child = spawn(process.execPath, [ours.main], {
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        ADMIN_PORT: "0",
        DATABASE_URL: databaseUrl,
        ...ours.env,
      },
      stdio: ["ignore", "ignore", "inherit"],
    })
    process.once("exit", () => child.kill("SIGKILL"))
    return child
  })
  await waitFor(async () => {
    const [row] = await sql<{ owners: number; free: number; spread: number }[]>`
      select count(owner)::int as owners, coalesce(sum(count) filter (where owner is null), 0)::int as free,
        coalesce(max(count) filter (where owner is not null) - min(count) filter (where owner is not null), 0)::int as spread
      from (
        select owner, count(*) from endpoint_readers join webhook_endpoints on id = endpoint_id where enabled group by owner
      ) share`
    return row!.owners === count && row!.free === 0 && row!.spread <= 1
  })
  return fleet
}

/** Kills the workers. */
export async function endFleet(fleet: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    fleet.map(async (child) => {
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    }),
  )
}

/** Pauses or resumes the workers. */
export function signalFleet(fleet: readonly ChildProcess[], name: "SIGSTOP" | "SIGCONT"): void {
  for (const child of fleet) child.kill(name)
}
