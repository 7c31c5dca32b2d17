import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, References } from "effect"
import type { Sql } from "postgres"
import { waitFor } from "../waitFor.ts"

/** How long a campaign of 100 took, from when it was scheduled, in seconds. */
interface Newcomer {
  readonly first: number
  readonly last: number
}

const NEWCOMERS = 100

/**
 * Starts a worker and, in each round, schedules a campaign of 100; returns when its first message was sent, and its last.
 *
 * In a database that `seedSending` has filled, another organization's campaign is under way all the while.
 */
export async function measureTurns(
  { databaseUrl, sql }: { readonly databaseUrl: string; readonly sql: Sql },
  { perMinute, rounds }: { readonly perMinute: number | undefined; readonly rounds: number },
): Promise<readonly Newcomer[]> {
  const catcher = fork(fileURLToPath(import.meta.resolve("../email/catcher.ts")))
  const [{ port }] = (await once(catcher, "message")) as [{ port: number }]
  const worker = spawn(process.execPath, [fileURLToPath(import.meta.resolve("@outreach/worker/main"))], {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      ADMIN_PORT: "0",
      LOG_LEVEL: "error",
      DATABASE_URL: databaseUrl,
      SECRETS_KEY: SECRETS_KEY.toString("base64"),
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      MAIL_FROM: "Acme <outreach@acme.test>",
      ...(perMinute !== undefined && { MAIL_PER_MINUTE: String(perMinute) }),
    },
    stdio: ["ignore", "ignore", "inherit"],
  })
  process.once("exit", () => worker.kill("SIGKILL"))
  const schedule = () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { campaign } = yield* seedCampaign({ recipients: NEWCOMERS })
        yield* scheduleCampaign(campaign.id)
        return campaign.id
      }).pipe(
        Effect.provide(adaptersFor(databaseUrl)),
        Effect.provideService(References.MinimumLogLevel, "None"),
      ) as Effect.Effect<string, unknown>,
    )
  const newcomers: Newcomer[] = []
  try {
    // The first one warms up.
    for (let round = 0; round <= rounds; round++) {
      const campaign = await schedule()
      const [{ at }] = (await sql`select extract(epoch from clock_timestamp())::float8 as at`) as unknown as [
        { at: number },
      ]
      let sent: { readonly count: number; readonly first: number; readonly last: number }
      await waitFor(
        async () => {
          const rows = await sql<(typeof sent)[]>`
            select count(sent_at)::int, extract(epoch from min(sent_at))::float8 as first, extract(epoch from max(sent_at))::float8 as last
            from recipients where campaign_id = ${campaign} and organization_id = (select organization_id from campaigns where id = ${campaign})`
          sent = rows[0]!
          return sent.count === NEWCOMERS
        },
        { pollMs: 100 },
      )
      if (round > 0) newcomers.push({ first: sent!.first - at, last: sent!.last - at })
    }
  } finally {
    const ended = once(worker, "exit")
    worker.kill("SIGKILL")
    await ended
    catcher.disconnect()
  }
  return newcomers
}
